#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tribo/io/frame.h"
#include "tribo/io/run_info.h"

namespace tribo {

/// Writes frames in a format other programs read, one after the other; memory does not grow with their number.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;
  virtual void write(const Frame& frame) = 0;  ///< throws IoError
  /// Removes what was written for frames after this one, so that a run begun anew (-1) or resumed from earlier does not
  /// mix with the one before. Throws IoError.
  virtual void remove_after(int frame) = 0;
  /// Writes what ties the frames together (a .pvd, the top of a .usda), for all frames there are, also those of a run
  /// that was resumed. Called when a run or an export ends or is stopped. Throws IoError.
  virtual void finish() {}
};

/// A format by name, with how to open it.
struct WriterEntry {
  const char* name;
  const char* doc;
  /// Files go into `directory`, which need not exist yet; it is made by the first write.
  std::unique_ptr<FrameWriter> (*open)(const std::string& directory, const RunInfo& info);
  /// Why this build cannot write it, as "this build has no X"; nullptr when it can. Opened nevertheless, it removes
  /// files, but writes none.
  const char* unavailable = nullptr;
  bool needs_tets = false;  ///< writes tets, which frames hold only when a scene asks for such a format
};

/// Every format, also those this build cannot write, in the order `tribo list writers` shows.
const std::vector<WriterEntry>& all_writers();

}  // namespace tribo
