#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tribo/core/contact_impulse.h"
#include "tribo/core/object_sums.h"
#include "tribo/core/types.h"
#include "tribo/io/container.h"
#include "tribo/io/frame.h"
#include "tribo/linear/solve_report.h"
#include "tribo/matter/rigid/joint_report.h"
#include "tribo/matter/strands/report.h"
#include "tribo/setup/model.h"

/// \file
/// Where plain C++ meets device code: one interface, implemented by every backend from the same sources.

namespace tribo {

/// What one substep did.
struct StepReport {
  double dt = 0;  ///< [s]
  const char* limit =
      "";  ///< what bounded it: cfl, wave, elastic, viscosity, contact, collider, drive, dt_max, frame or retry
  SolveReport solve;
  StrandReport strands;
  double least_for_strands = 0;  ///< the fail-safe of strands asks for no shorter step [s]
};

/// How much there is of everything.
struct EngineCounts {
  std::int64_t particles = 0;
  std::int64_t active_blocks = 0;
  std::int64_t emitted = 0;   ///< since the start
  std::int64_t removed = 0;   ///< by sinks, since the start
  std::int64_t vertices = 0;  ///< of meshes
  std::int64_t tets = 0;
  std::int64_t collision_particles = 0;
  std::int64_t bodies = 0;  ///< rigid ones
  std::int64_t strands = 0;
  std::int64_t segments = 0;  ///< of strands
  std::int64_t contacts = 0;  ///< of meshes and strands, in the last step
  std::int64_t rows = 0;        ///< of contact of rigid bodies, in the last step
  std::int64_t row_sweeps = 0;  ///< times that such rows were swept over, there and back, since the start
};

/// Particles that have come or gone since the start.
struct Flow {
  std::int64_t particles = 0;
  double mass = 0;  ///< [kg]
};
struct EngineFlows {
  std::vector<Flow> emitted;  ///< by object; nothing for those that are no emitters
  std::vector<Flow> removed;  ///< by sink
};

/// Impulses of contact, and of joints, since they were cleared.
struct EngineContacts {
  std::vector<ContactImpulse> colliders;
  std::vector<ObjectContact> objects;
  std::vector<JointReport> joints;
};

/// A simulation on one device, in one precision and dimension.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual const char* backend() const = 0;  ///< "cpu_avx2", "cuda", ...
  virtual double time() const = 0;
  virtual std::int64_t step_count() const = 0;

  /// One substep, which ends at `until` at the latest. Throws DivergedError; DeviceError where memory is short, with
  /// the state as it was unless it is a LostStepError.
  virtual StepReport step(double until) = 0;

  /// What the next substep's dt would be, without taking it.
  virtual StepReport next_dt(double until) const = 0;

  virtual std::vector<ObjectSums> measure() = 0;
  /// What observers see now. With `later`, columns may be left on the device for another thread to bring, which must do
  /// so or drop the frame: the engine waits for it before it shows its state again.
  virtual RawFrame frame(int number, bool later = false) = 0;
  virtual EngineCounts counts() const = 0;
  virtual EngineFlows flows() const = 0;
  virtual EngineContacts contacts() = 0;
  virtual void clear_contacts() = 0;  ///< a frame begins

  /// Hash of what visit_state shows: equal hashes mean equal futures.
  virtual std::uint64_t state_hash() = 0;

  /// Host copies of the state's arrays one after the other, the same in every run: for saving.
  using ArrayVisitor = std::function<void(const char* name, DType type, std::int64_t count, const void* data)>;
  virtual void visit_state(const ArrayVisitor& visit) = 0;
  /// Restores what visit_state showed. Throws IoError naming what does not fit.
  virtual void load(const Container& checkpoint) = 0;

  virtual const std::vector<std::pair<const char*, double>>& stage_seconds() const = 0;
  virtual void clear_stage_seconds() = 0;
  virtual std::size_t bytes() const = 0;  ///< device memory held
};

struct EngineOptions {
  std::string device = "cpu";       ///< cpu or cuda
  std::string precision = "float";  ///< float or double
  int threads = 0;                  ///< 0: all
  std::string isa;                  ///< CPU instruction set; empty: the best this machine has
  bool tets = false;                ///< whether frames show the tets of meshes, too
};

/// Bytes an engine will need for so much; what is asked for before anything is allocated.
double estimated_bytes(const EngineOptions& options, const Model& model, const Amounts& amounts);

/// An engine with everything in place. Throws DeviceError when the device is absent or memory is short.
std::unique_ptr<Engine> make_engine(const EngineOptions& options, const Model& model, const Seeds& seeds);

/// CPU instruction sets this binary was built for and this machine can run, best first.
std::vector<std::string> available_isas();
/// All that the build has, best first, separated by commas.
std::string built_isas();

/// Whether the CUDA backend is in this binary.
bool has_cuda();

/// The state as a checkpoint.
Container save_state(Engine& engine);

}  // namespace tribo
