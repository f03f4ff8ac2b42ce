#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "tribo/simulation.h"

namespace tribo {

/// Where a run stands, for a progress display.
struct RunProgress {
  int frame = 0;        ///< frames completed
  int frames = 0;       ///< frames to do in all
  double time = 0;      ///< simulated [s]
  double end_time = 0;  ///< [s]
  StepReport step;      ///< the last substep
  std::int64_t particles = 0;
  double wall = 0;        ///< seconds since this process began the run
  double remaining = -1;  ///< estimated seconds left; negative while unknown
};

struct RunOptions {
  SimulationOptions simulation;
  std::string directory;
  bool overwrite = false;
  bool resume = false;
  std::optional<int> from;    ///< resume from the newest checkpoint at or before this frame
  std::optional<int> frames;  ///< instead of what the scene asks for
  bool render = false;        ///< draw each frame as it is finished

  std::function<void(const RunProgress&)> on_step;   ///< after every substep
  std::function<void(const RunProgress&)> on_frame;  ///< after a frame is complete; it is being written
  std::function<void(const std::string&)> on_note;   ///< things worth telling the user
  const std::atomic<bool>* stop = nullptr;           ///< set it to stop after the present substep
};

struct RunResult {
  bool finished = true;  ///< false: stopped on request; a checkpoint was written
  int frame = 0;
  std::string directory;
};

/// Where a scene differs in earnest from the resolved scene a run began with, as a JSON pointer; nothing when a run of
/// one is a run of the other. Duration, output, looks and the like do not count.
std::optional<std::string> scene_difference(const Scene& scene, const std::string& began_with_json);

/// Simulates a scene into a run directory. With `resume`, continues the run found there.
/// Throws tribo::Error; whatever was written before stays valid.
RunResult run_scene(const Scene& scene, const RunOptions& options);

}  // namespace tribo
