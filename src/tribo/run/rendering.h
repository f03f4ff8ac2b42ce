#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tribo/scene/reader.h"

namespace tribo {

struct RenderOptions {
  std::string output;               ///< .png or .mp4; empty: in DIR/pictures
  std::string frames;               ///< which, as select_frames reads it; empty: all, or the last for a .png
  int threads = 0;                  ///< 0: all
  bool framed = false;             ///< see CameraChoice
  bool turntable = false;           ///< the camera goes around once
  bool keep_pictures = false;       ///< of a movie
  std::vector<Override> overrides;  ///< of the scene: how it looks
  std::function<void(double done, int of)> on_progress;  ///< pictures done, also parts of one; from any thread
  std::function<void(const std::string&)> on_note;       ///< things worth telling the user
  const std::atomic<bool>* stop = nullptr;
};

struct RenderResult {
  bool finished = true;            ///< false: stopped on request
  std::vector<std::string> files;  ///< the movie, or the pictures
  std::string pictures;            ///< folder in which the pictures of an unfinished movie are kept; else empty
};

/// Draws frames of a run as PNG files or as a movie. Throws Error; finished pictures stay.
RenderResult render_run(const std::string& directory, const RenderOptions& options);

/// What `--camera` means: "front", "back", "left", "right", "top", "AZIMUTH,ELEVATION" or
/// "X,Y,Z:X,Y,Z[:FOV]" (from, to, field of view; lengths in m, angles in degrees). Throws Error (bad input).
struct CameraChoice {
  std::vector<Override> overrides;  ///< of the scene
  bool framed = false;              ///< the camera's place follows from what there is to see, whatever the scene says
};
CameraChoice parse_camera(const std::string& text);

}  // namespace tribo
