#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tribo {

/// How a program ended.
struct ProcessResult {
  int status = 0;      ///< what it exited with; 128 + n when signal n ended it, as shells count
  std::string output;  ///< the end of what it printed, standard output and standard error together

  bool ok() const { return status == 0; }
  /// The last line of the output that is not blank: mostly the one that says what went wrong.
  std::string last_line() const;
};

/// Path of a program of that name on the PATH; none when there is no such executable file. A name with a slash is a
/// path by itself.
std::optional<std::string> find_program(const std::string& name);

/// Runs a program to its end. `arguments[0]` is its name or path; no shell looks at any of them. The program reads
/// nothing, has default signal handling whatever the caller's is, and inherits no file of the caller's but those not
/// marked close-on-exec. Throws DeviceError when it cannot be started at all; a failure of its own is in `status`.
ProcessResult run_program(const std::vector<std::string>& arguments);

}  // namespace tribo
