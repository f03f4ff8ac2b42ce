#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tribo {

/// What the process exits with. Part of the command line's contract.
enum class ExitCode { done = 0, internal = 1, bad_input = 2, device = 3, diverged = 4, io = 5 };

/// Any failure tribo reports on purpose. The library throws; only the command line prints and exits.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// One mistake in a scene or asset file.
struct Finding {
  std::string file;     ///< as the user named it
  int line = 0;         ///< 1-based; 0 when unknown (a command-line override, say)
  int column = 0;       ///< 1-based
  std::string pointer;  ///< JSON pointer, "/materials/sand/poisson_ratio"
  std::string message;  ///< what was expected, what was found, and the remedy

  /// `file:line:column  pointer: message`
  std::string text() const;
};

/// A scene (or a file it names) that cannot be simulated; carries every mistake found, not only the first.
class SceneError : public Error {
 public:
  explicit SceneError(std::vector<Finding> findings);
  const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

/// The device is absent, or memory is short.
class DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ExitCode::device, message) {}
};

/// Memory ran out after a part of the simulation had moved: the step can be neither finished nor taken back, and the
/// state is none to go on from.
class LostStepError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The simulation left the world of finite numbers or reasonable speeds.
class DivergedError : public Error {
 public:
  explicit DivergedError(const std::string& message) : Error(ExitCode::diverged, message) {}
};

/// A file could not be read or written, or what it holds is damaged.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

}  // namespace tribo
