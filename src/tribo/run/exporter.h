#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tribo/scene/reader.h"

namespace tribo {

struct ExportOptions {
  std::string format;  ///< a name in all_writers()
  std::string output;  ///< where files go; empty: DIR/FORMAT
  std::string frames;  ///< which, as select_frames reads it; empty: all there are
  std::vector<Override> overrides;
  std::function<void(int done, int of)> on_frame;
  std::function<void(const std::string&)> on_note;  ///< things worth telling the user
  const std::atomic<bool>* stop = nullptr;  ///< set it to stop after the present frame
};

struct ExportResult {
  bool finished = true;  ///< false: stopped on request; frames written so far are good
  int frames = 0;        ///< written
  std::string output;
};

/// Writes frames of a finished or running run in another format, one at a time. Throws Error; what was written before
/// stays valid.
ExportResult export_run(const std::string& directory, const ExportOptions& options);

}  // namespace tribo
