#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tribo/engine/engine.h"
#include "tribo/io/frame.h"
#include "tribo/scene/reader.h"
#include "tribo/scene/scene.h"

/// \file
/// The public face of the library. A minimal program:
///
///     tribo::Simulation simulation = tribo::Simulation::open("scene.json");
///     while (simulation.frame() < simulation.frame_count()) {
///       simulation.advance_frame();
///       const tribo::Frame frame = simulation.observe();
///       const auto x = frame.find("x")->as<float>();  // x0 y0 z0 x1 y1 z1 ...
///     }
///
/// Everything throws tribo::Error (core/errors.h); nothing prints or exits. For a run directory with frames, statistics
/// and checkpoints, as the command line makes them, see run/runner.h.

namespace tribo {

struct SimulationOptions {
  std::string device = "cpu";  ///< cpu or cuda
  int threads = 0;             ///< 0: all
  std::string isa;             ///< CPU instruction set; empty: the best this machine has
  std::vector<Override> overrides;
};

/// What happened between two frames.
struct FrameProgress {
  std::int64_t substeps = 0;
  double dt_min = 0;     ///< [s]
  double dt_max = 0;     ///< [s]
  SolveReport solve;     ///< what implicit steps took
  StrandReport strands;  ///< what contact between strands did
  /// How often each bound set dt.
  std::vector<std::pair<std::string, std::int64_t>> limits;

  void add(const StepReport& report);
  /// The bound that set dt most often; "frame" only when nothing else did.
  std::string main_limit() const;
};

/// Mean over a frame of what contact does to something.
struct MeanForce {
  Vec<double, 3> force = Vec<double, 3>::zero();  ///< [N]
  std::optional<Vec<double, 3>> torque;           ///< [N m]
};
struct ContactForces {
  std::vector<std::optional<MeanForce>> objects;  ///< torque about the center of mass; nothing where it is not known
  std::vector<MeanForce> colliders;               ///< torque about the collider's origin, in the middle of the frame
};

/// A scene being simulated.
class Simulation {
 public:
  /// Reads and checks a scene file and puts its particles in place. Throws SceneError, IoError or DeviceError.
  static Simulation open(const std::string& scene_path, const SimulationOptions& options = {});
  Simulation(Scene scene, const SimulationOptions& options);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const Scene& scene() const { return scene_; }
  /// What looks like a mistake in the scene but can be simulated, one sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// What there is at time 0: with this `estimated_bytes` is what memory the steps will need.
  const Amounts& amounts() const { return amounts_; }
  double time() const { return engine_->time(); }                    ///< [s]
  int frame() const { return frame_; }                               ///< frames completed
  int frame_count() const { return scene_.frame_count(); }           ///< frames the scene asks for
  double frame_time(int frame) const { return frame / scene_.fps; }  ///< [s]

  /// One substep, never past the next frame's time. Throws DivergedError.
  StepReport step();
  /// Substeps to the next frame.
  void advance_frame();
  /// Progress since the last completed frame (since the one before, right after completing one).
  const FrameProgress& progress() const { return progress_; }

  /// Host copy of positions, velocities, ids, ... at this moment; columns in order of particle id.
  Frame observe() { return arrange(engine_->frame(frame_)); }
  /// The same before `arrange`, for whoever wants to do that elsewhere than in the simulation's thread.
  RawFrame observe_raw() { return engine_->frame(frame_, true); }
  /// Sums over each object, in the order of the scene.
  std::vector<ObjectSums> measure();
  /// Means since the frame before, in the order of the scene; nothing in frame 0. Of objects that are free they come from
  /// their momentum now and as it was measured at that frame.
  ContactForces contact_forces();
  /// Joints of rigid bodies now, with the means of what they gave since the frame before: none of these in frame 0.
  std::vector<JointReport> joints();
  /// Hash of everything that evolves: equal hashes mean equal futures.
  std::uint64_t state_hash() { return engine_->state_hash(); }

  /// All that evolves, and back. A restored simulation continues with the same bytes as the original.
  Container checkpoint();
  void restore(const Container& checkpoint);

  Engine& engine() { return *engine_; }

 private:
  Scene scene_;
  std::vector<std::string> warnings_;
  Amounts amounts_;
  std::unique_ptr<Engine> engine_;
  int frame_ = 0;
  bool frame_complete_ = true;
  FrameProgress progress_;
  /// What has been measured last, in this step, and at the beginning of the frame; empty where nobody has.
  std::vector<ObjectSums> measured_, began_;
  std::int64_t measured_step_ = -1;
};

/// Library version, "0.1.0".
const char* version();

}  // namespace tribo
