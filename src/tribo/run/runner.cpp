#include "tribo/run/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tribo/core/errors.h"
#include "tribo/io/run_directory.h"
#include "tribo/io/writer.h"
#include "tribo/render/renderer.h"
#include "tribo/run/frame_queue.h"
#include "tribo/run/statistics.h"
#include "tribo/scene/room.h"
#include "tribo/setup/appearance.h"
#include "tribo/setup/meshes.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Parts of a scene that do not change what has been simulated so far.
bool may_change(const std::string& pointer) {
  for (const char* free : {"/duration", "/output", "/expect", "/variants", "/description", "/render"})
    if (pointer.rfind(free, 0) == 0) return true;
  return false;
}

/// A mesh is what its hash says, wherever the file is.
void forget_mesh_files(Json& value) {
  if (value.is_object() && value.contains("file") && value.contains("hash")) value.erase("file");
  if (value.is_structured())
    for (Json& inner : value) forget_mesh_files(inner);
}

/// The scene without how bodies look and where meshes are.
Json without_looks(Json scene) {
  forget_mesh_files(scene);
  for (const char* kind : {"objects", "colliders", "materials"})
    if (scene.contains(kind))
      for (Json& body : scene[kind])
        if (body.is_object()) body.erase("look");
  return scene;
}

/// Where the scene differs in earnest from the one a run began with; nothing when it does not.
std::optional<std::string> difference(const Scene& scene, const Json& began_with_all) {
  const Json began_with = without_looks(began_with_all);
  const Json now = without_looks(Json::parse(scene.resolved_json));
  for (const Json& change : Json::diff(began_with, now)) {
    const std::string pointer = change.at("path").get<std::string>();
    if (!may_change(pointer)) return pointer;
  }
  // The state knows materials by their place in the list, of which a diff of keys says nothing.
  if (began_with.contains("materials") && began_with["materials"] != now["materials"]) return "/materials";
  return {};
}

/// A resumed run must follow the scene it began with.
void check_same_scene(const Scene& scene, const RunDirectory& directory) {
  const Json began_with = Json::parse(directory.read_scene(), nullptr, false);
  if (began_with.is_discarded())
    throw IoError(directory.scene_path() + ": not valid JSON; restore it, or start anew with --overwrite");
  if (const auto pointer = difference(scene, began_with))
    throw SceneError({Finding{scene.file, 0, 0, *pointer,
                              "differs from the scene this run began with (" + directory.scene_path() +
                                  "); resume that with 'tribo run " + directory.path() +
                                  " --resume', or start anew with --overwrite"}});
}

/// Nor may scene.json have been changed under the run: the checkpoint knows what it was.
void check_same_scene(const Scene& scene, const RunDirectory& directory, const RunDirectory::Loaded& loaded) {
  const Json meta = Json::parse(loaded.checkpoint.meta);
  if (!meta.contains("scene")) return;
  if (const auto pointer = difference(scene, meta["scene"]))
    throw SceneError(
        {Finding{directory.scene_path(), 0, 0, *pointer,
                 "was changed after " + loaded.path + " was written; restore it, or start anew with --overwrite"}});
}

/// Whether two backends give the same bytes: the CPU's do when both have fused multiply-add.
bool same_arithmetic(const std::string& a, const std::string& b) {
  const auto fused = [](const std::string& name) { return name == "cpu_avx2" || name == "cpu_avx512"; };
  return a == b || (fused(a) && fused(b));
}

/// One run: the loop, and what it leaves on disk.
class SceneRun {
 public:
  SceneRun(const Scene& scene, const RunOptions& options)
      : options_(options),
        mode_(options.resume      ? RunDirectory::Mode::resume
              : options.overwrite ? RunDirectory::Mode::overwrite
                                  : RunDirectory::Mode::create),
        simulation_(prepared(scene)),
        directory_(options.directory, mode_),
        frames_(options.frames.value_or(simulation_.frame_count())) {
    for (const std::string& format : scene.output.formats)
      for (const WriterEntry& writer : all_writers())
        if (format == writer.name) writers_.push_back(open(writer));
    if (options.render) writers_.push_back(open_pictures());
  }

  RunResult go() {
    if (options_.resume && !ended_before_first_checkpoint()) {
      load();
    } else {
      if (options_.resume) {
        directory_.truncate_after(-1, -1);
        note(directory_.path() + " has no checkpoint yet: the run begins anew");
      }
      remove_exports_after(-1);
      write_scene();
      directory_.log(fmt::format("tribo {} began scene '{}' on {}", version(), simulation_.scene().name,
                                 options_.simulation.device));
      for (const std::string& warning : simulation_.warnings()) note("warning: " + warning);
      finish_frame();
      checkpoint();
    }
    try {
      while (simulation_.frame() < frames_) {
        const int frame = simulation_.frame();
        const StepReport report = simulation_.step();
        queue_.check();
        if (options_.on_step) options_.on_step(where(report));
        if (simulation_.frame() > frame) {
          finish_frame();
          if (options_.on_frame) options_.on_frame(where(report));
          if (checkpoint_due()) checkpoint();
        }
        if (options_.stop != nullptr && options_.stop->load() && simulation_.frame() < frames_) {
          checkpoint();
          finish_exports();
          directory_.log(fmt::format("stopped on request at t = {} s, step {}", simulation_.time(),
                                     simulation_.engine().step_count()));
          return {false, simulation_.frame(), directory_.path()};
        }
      }
    } catch (const DivergedError& error) {
      report_divergence(error);
    } catch (const LostStepError& error) {  // what is half a step later than the rest is no state to go on from
      throw DeviceError(std::string(error.what()) +
                        "\nthe step it happened in is lost, and no checkpoint is written; continue with --resume from "
                        "the last one where there is more memory");
    } catch (
        const DeviceError& error) {  // before a substep, after it, or in one that was taken back: the state is whole
      // A checkpoint says that all frames before it are on disk.
      if (simulation_.frame() > last_pushed_)
        throw DeviceError(std::string(error.what()) + "\nframe " + std::to_string(simulation_.frame()) +
                          " could not be written; continue with --resume from the last checkpoint where there is more "
                          "memory");
      checkpoint();
      throw DeviceError(std::string(error.what()) +
                        "\na checkpoint is written; continue with --resume where there is more memory");
    }
    finish_exports();
    directory_.log(fmt::format("finished at frame {}", simulation_.frame()));
    return {true, simulation_.frame(), directory_.path()};
  }

 private:
  /// What forbids the run is found before a million particles are sampled; but nothing is made or removed on disk
  /// before it is known that the simulation can start: an old run is not to be lost for a scene too large for memory.
  Simulation prepared(const Scene& scene) {
    for (const std::string& format : scene.output.formats)
      for (const WriterEntry& writer : all_writers())
        if (format == writer.name && writer.unavailable != nullptr)
          throw Error(ExitCode::bad_input, fmt::format("cannot write \"{}\": {}", format, writer.unavailable));
    RunDirectory::check(options_.directory, mode_);
    if (options_.render) require_renderer_while_simulating(scene);
    if (options_.resume) check_same_scene(scene, RunDirectory(options_.directory, RunDirectory::Mode::read));
    return {scene, options_.simulation};
  }

  /// A run can be killed in its first moments, too. With later frames on disk, the checkpoints were there and are lost.
  bool ended_before_first_checkpoint() const {
    const std::vector<int> frames = directory_.frames();
    return directory_.checkpoints().empty() && (frames.empty() || frames.back() == 0);
  }

  /// The scene, and before it the meshes it refers to: a run can be moved, and goes on when their files have changed.
  void write_scene() {
    for (const NamedMesh& named : meshes_of(simulation_.scene()))
      for (const NamedBytes& copy : named.mesh.copies()) directory_.keep_file(copy.file, copy.bytes);
    for (const ObjectSpec& object : simulation_.scene().objects)
      for (const NamedBytes& copy : room_of(object).files(object)) directory_.keep_file(copy.file, copy.bytes);
    directory_.write_scene(simulation_.scene().resolved_json);
  }

  /// Files of every format, also of those an earlier run was asked for and this one is not.
  void remove_exports_after(int frame) {
    for (const WriterEntry& writer : all_writers()) open(writer)->remove_after(frame);
    remove_pictures_after(directory_.path() + "/render", simulation_.scene().name, frame);
  }

  std::unique_ptr<FrameWriter> open_pictures() {
    return open_picture_writer(directory_.path() + "/render", simulation_.scene(), options_.stop,
                               [this](const std::string& text) { note(text); });
  }

  std::unique_ptr<FrameWriter> open(const WriterEntry& writer) const {
    return writer.open(directory_.path() + "/" + writer.name, run_info(simulation_.scene()));
  }

  void finish_exports() {
    queue_.drain();
    for (const auto& writer : writers_) writer->finish();
  }

  void note(const std::string& text) {
    directory_.log(text);
    if (options_.on_note) options_.on_note(text);
  }

  void load() {
    const RunDirectory::Loaded loaded = directory_.read_checkpoint(options_.from);
    for (const std::string& warning : loaded.warnings) note("warning: " + warning);
    check_same_scene(simulation_.scene(), directory_, loaded);
    try {
      simulation_.restore(loaded.checkpoint);
    } catch (const IoError& error) {
      throw IoError(loaded.path + ": " + error.what());
    }
    const int dropped = directory_.truncate_after(simulation_.frame(), simulation_.engine().step_count());
    remove_exports_after(simulation_.frame());
    if (dropped > 0) note(fmt::format("warning: dropped {} unreadable lines of stats.jsonl", dropped));
    write_scene();
    last_pushed_ = simulation_.frame();
    note(fmt::format("resumed from {} (frame {}, t = {:.6g} s)", loaded.path, simulation_.frame(), simulation_.time()));
    const std::string before = Json::parse(loaded.checkpoint.meta).value("backend", "");
    const std::string now = simulation_.engine().backend();
    if (!before.empty() && !same_arithmetic(before, now))
      note("the run was on " + before + " and goes on on " + now + ": numbers will differ in the last digits");
    simulation_.measure();  // forces of the next frame begin with it
    simulation_.engine().clear_stage_seconds();
    frame_start_ = Clock::now();
    time_at_start_ = simulation_.time();
  }

  /// A frame and its line of statistics, on the way to the disk.
  struct Finished {
    RawFrame raw;
    std::string statistics;
  };

  void finish_frame() {
    RawFrame raw = simulation_.observe_raw();
    // From one frame to the next: what measuring and waiting for the disk take is in the next frame's time.
    const double wall = seconds_since(frame_start_);
    frame_start_ = Clock::now();
    StageSeconds stages;
    for (const auto& [name, seconds] : simulation_.engine().stage_seconds()) stages.emplace_back(name, seconds);
    simulation_.engine().clear_stage_seconds();
    queue_.push({std::move(raw), frame_statistics(simulation_, wall, stages)});
    last_pushed_ = simulation_.frame();
    if (const StrandReport& strands = simulation_.progress().strands;
        strands.missed > 0 && simulation_.scene().strand_contact.fail_safe &&
        simulation_.scene().strand_contact.form != StrandContactSpec::Form::none)
      note(fmt::format(
          "warning: frame {}: {} pairs of segments have passed through each other although fail_safe is on, "
          "first strand {} of '{}' and strand {} of '{}' near ({:.5g}, {:.5g}, {:.5g}) at {:.6g} s; lower "
          "time.dt_max, or check strands that begin crossed",
          simulation_.frame(), strands.missed, strands.first.strand[0], object_name(strands.first.object[0]),
          strands.first.strand[1], object_name(strands.first.object[1]), strands.first.at[0], strands.first.at[1],
          strands.first.at[2], strands.first.time));
    if (const SolveReport& solve = simulation_.progress().solve; solve.unconverged > 0)
      note(
          fmt::format("warning: frame {}: {} implicit steps did not converge (velocities still changed by {:.2g} m/s); "
                      "lower time.dt_max, or raise time.newton_iterations or time.linear_iterations",
                      simulation_.frame(), solve.unconverged, solve.error));
  }

  const std::string& object_name(int object) const {
    return simulation_.scene().objects[static_cast<std::size_t>(object)].name;
  }

  /// In the background.
  void write(Finished& finished) {
    Frame frame = arrange(std::move(finished.raw));
    directory_.write_frame(frame);
    if (!writers_.empty()) add_colliders(simulation_.scene(), frame);
    for (const auto& writer : writers_) writer->write(frame);
    directory_.append_stats(finished.statistics);
  }

  bool checkpoint_due() const {
    const OutputSpec& output = simulation_.scene().output;
    const bool by_frames = output.checkpoint_frames > 0 && simulation_.frame() % output.checkpoint_frames == 0;
    const bool by_minutes =
        output.checkpoint_minutes > 0 && seconds_since(last_checkpoint_) > 60 * output.checkpoint_minutes;
    return by_frames || by_minutes || simulation_.frame() == frames_;
  }

  void checkpoint() {
    queue_.drain();  // resuming goes by the checkpoint: frames and statistics before it must be on disk
    Container checkpoint = simulation_.checkpoint();
    Json meta = Json::parse(checkpoint.meta);
    meta["scene"] = Json::parse(simulation_.scene().resolved_json);
    checkpoint.meta = meta.dump();
    directory_.write_checkpoint(checkpoint, simulation_.engine().step_count(),
                                simulation_.scene().output.checkpoints_kept);
    last_checkpoint_ = Clock::now();
  }

  [[noreturn]] void report_divergence(const DivergedError& error) {
    try {
      queue_.drain();
    } catch (const IoError&) {  // that the simulation diverged is the graver news
    }
    // What was last good is on disk; the state at the failure is kept beside it for a look, never resumed from.
    std::string post_mortem = directory_.diverged_path();
    try {
      write_container(post_mortem, simulation_.checkpoint());
      directory_.log(std::string("diverged: ") + error.what());
    } catch (const IoError& full) {
      post_mortem = std::string("not saved, ") + full.what();
    }
    try {
      finish_exports();
    } catch (const IoError&) {  // as above; the frames themselves are on disk
    }
    std::string last = "none";
    const std::vector<std::int64_t> steps = directory_.checkpoints();
    if (!steps.empty()) last = directory_.checkpoint_path(steps.back());
    throw DivergedError(std::string("the simulation diverged: ") + error.what() + "\nframes up to " +
                        std::to_string(simulation_.frame()) + " are on disk; last good checkpoint: " + last +
                        "; state at the failure: " + post_mortem);
  }

  RunProgress where(const StepReport& report) {
    RunProgress p;
    p.frame = simulation_.frame();
    p.frames = frames_;
    p.time = simulation_.time();
    p.end_time = simulation_.frame_time(frames_);
    p.step = report;
    p.particles = simulation_.engine().counts().particles;
    p.wall = seconds_since(run_start_);
    const double done = p.time - time_at_start_;
    if (done > 0 && p.wall > 1) p.remaining = p.wall * (p.end_time - p.time) / done;
    return p;
  }

  const RunOptions& options_;
  RunDirectory::Mode mode_;
  Simulation simulation_;
  RunDirectory directory_;
  int frames_;
  std::vector<std::unique_ptr<FrameWriter>> writers_;
  Clock::time_point run_start_ = Clock::now();
  Clock::time_point frame_start_ = run_start_;
  Clock::time_point last_checkpoint_ = run_start_;
  double time_at_start_ = 0;
  int last_pushed_ = -1;                                                            ///< frame
  FrameQueue<Finished> queue_{2, [this](Finished& finished) { write(finished); }};  ///< last: it uses the above
};

}  // namespace

std::optional<std::string> scene_difference(const Scene& scene, const std::string& began_with_json) {
  const Json began_with = Json::parse(began_with_json, nullptr, false);
  return began_with.is_object() ? difference(scene, began_with) : std::string("/");
}

RunResult run_scene(const Scene& scene, const RunOptions& options) { return SceneRun(scene, options).go(); }

}  // namespace tribo
