#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/io/frame.h"

namespace tribo {

/// Writes frames in a format other programs read.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  virtual void write(const Frame& frame) = 0;  ///< throws IoError
  /// Removes what was written for frames after this one, so that a run begun anew (-1) or resumed from earlier does not
  /// mix with the one before. Throws IoError.
  virtual void remove_after(int frame) = 0;
};

/// A format by name, with how to open it.
struct WriterEntry {
  const char* name;
  const char* doc;
  /// `directory` need not exist yet; `name` (of the scene) begins the names of files.
  std::unique_ptr<FrameWriter> (*open)(const std::string& directory, const std::string& name);
};

/// Every format, in the order `tribo list writers` shows.
const std::vector<WriterEntry>& all_writers();

}  // namespace tribo
