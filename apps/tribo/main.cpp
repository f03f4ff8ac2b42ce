#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "compare_command.h"
#include "export_command.h"
#include "interrupt.h"
#include "mpm.h"
#include "progress.h"
#include "render.h"
#include "render_command.h"
#include "rigid.h"
#include "rods.h"
#include "scene_flags.h"
#include "solids.h"
#include "stats_command.h"
#include "tribo/core/errors.h"
#include "tribo/exec/gpu_memory.h"
#include "tribo/io/file.h"
#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/rigid/amounts.h"
#include "tribo/run/runner.h"
#include "tribo/scene/format.h"
#include "tribo/scene/reader.h"
#include "tribo/scene/variants.h"
#include "tribo/setup/meshes.h"
#include "tribo/setup/model.h"
#include "tribo/simulation.h"

/// \file
/// The command line: flags in, library calls, exit code out. No physics here.

namespace {

using namespace tribo;

/// The text as one word of a shell.
std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("_-./+,:@%", c) != nullptr; };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

struct RunCommand {
  SceneFlags flags;
  std::optional<std::string> directory;
  std::optional<int> frames;
  std::optional<int> from;
  bool resume = false;
  bool overwrite = false;
  bool render = false;
  bool quiet = false;

  void add_to(CLI::App& app) {
    flags.add_to(app);
    app.add_option("-o,--output", directory, "run directory; out/NAME when not given");
    app.add_option("--frames", frames, "simulate this many frames instead of the scene's duration")
        ->check(CLI::Range(1, 100'000'000));
    auto* resume_flag = app.add_flag("--resume", resume, "continue the run in the directory from its last checkpoint");
    app.add_option("--from", from, "with --resume: go back to the checkpoint at or before this frame")
        ->check(CLI::Range(0, 100'000'000))
        ->needs(resume_flag);
    app.add_flag("--overwrite", overwrite, "replace a run that is already in the directory")->excludes(resume_flag);
    app.add_flag("--render", render, "draw each frame as it is finished, and a movie in the end");
    app.add_flag("-q,--quiet", quiet, "print nothing but errors");
  }

  int operator()() {
    const Scene scene = read_scene(flags.scene_path(), flags.overrides());
    RunOptions options;
    options.simulation = flags.simulation_options();
    options.directory = directory                  ? *directory
                        : flags.is_run_directory() ? flags.scene
                                                   : "out/" + as_file_name(scene.name, "run");
    options.overwrite = overwrite;
    options.resume = resume;
    options.from = from;
    options.frames = frames;
    options.render = render;
    options.stop = &stop_requested;
    ProgressDisplay display(quiet);
    options.on_step = [&](const RunProgress& p) { display.step(p); };
    options.on_frame = [&](const RunProgress& p) { display.frame(p); };
    options.on_note = [&](const std::string& text) {
      if (!quiet) display.note(text);
    };
    catch_interrupts();
    const RunResult result = run_scene(scene, options);
    display.finish();
    if (!result.finished) {
      fmt::print(stderr, "stopped after frame {}; a checkpoint is written. Continue with:\n  {}\n", result.frame,
                 resume_command(result.directory));
    } else if (!quiet) {
      fmt::print("finished {} frames in {}\n", result.frame, result.directory);
    }
    return static_cast<int>(ExitCode::done);
  }

  /// What continues this run as it would have gone on. Overrides are in the run's own scene.json by now.
  std::string resume_command(const std::string& run) const {
    std::string command = "tribo run " + shell_word(run) + " --resume";
    if (frames) command += fmt::format(" --frames {}", *frames);
    if (render) command += " --render";
    if (flags.device != "cpu") command += " --device " + flags.device;
    if (flags.threads != 0) command += fmt::format(" --threads {}", flags.threads);
    if (!flags.isa.empty()) command += " --isa " + flags.isa;
    return command;
  }
};

struct CheckCommand {
  SceneFlags flags;

  void add_to(CLI::App& app) { flags.add_to(app); }

  static void print_mesh(const NamedMesh& named) {
    const Mesh& mesh = named.mesh;
    const Solid& solid = mesh.solid();
    const Vec<double, 3> size = solid.high - solid.low;
    const TetSolid* tets = mesh.tets();
    fmt::print("  mesh        {} of {}: {}, {:.4g} x {:.4g} x {:.4g} m, volume {:.4g} m^3{}\n", mesh.file(),
               named.owner,
               tets ? fmt::format("{} tets", tets->mesh.tets.size())
                    : fmt::format("{} triangles", solid.mesh.triangles.size()),
               size[0], size[1], size[2], tets ? tets->volume : solid.volume, named.as_tets ? "" : ";");
    if (named.as_tets) return;
    fmt::print("              distance sampled every {:.3g} m, {:.1f} MiB\n", mesh.field().spacing,
               static_cast<double>(mesh.field().bytes()) / 1048576);
  }

  bool on_gpu() const { return flags.device == "cuda"; }
  double needed_bytes(const Scene& scene, const Amounts& amounts) const {
    return estimated_bytes({flags.device, scene.precision, flags.threads, flags.isa}, build_model(scene), amounts);
  }
  /// Of `count` particles and nothing else.
  static Amounts only_particles(double count) {
    Amounts amounts;
    amounts.of<ParticleAmounts>().count = count;
    return amounts;
  }
  static Amounts with_emitted(Amounts amounts, double emitted) {
    amounts.of<ParticleAmounts>().count += emitted;
    return amounts;
  }
  bool fits_device(const Scene& scene) const {
    if (!on_gpu()) return true;  // short main memory is an error, found when the simulation is made
    const std::optional<GpuMemory> gpu = gpu_memory();
    return gpu && needed_bytes(scene, expected_amounts(scene)) <= static_cast<double>(gpu->free);
  }

  /// `held`: what the particles at the start take on the device; 0 when they are not there.
  void print_memory(const Scene& scene, double emitted, const Amounts& amounts, std::size_t held) const {
    constexpr double MiB = 1048576;
    const double needed = needed_bytes(scene, amounts);
    const bool others = needed > needed_bytes(scene, only_particles(amounts.of<ParticleAmounts>().count));
    if (!on_gpu())
      fmt::print("  memory      {:.1f} MiB on {}, {}; {}\n", static_cast<double>(held) / MiB, flags.device,
                 scene.precision,
                 others ? fmt::format("about {:.1f} MiB with what contact takes", needed / MiB)
                        : "more when particles spread");
    else if (others)
      fmt::print("  memory      about {:.1f} MiB on {}, {}\n", needed / MiB, flags.device, scene.precision);
    else
      fmt::print("  memory      about {:.1f} MiB on {}, {}, {:.0f} bytes a particle; more when particles spread\n",
                 needed / MiB, flags.device, scene.precision, needed_bytes(scene, only_particles(1)));
    if (on_gpu() && held > 0)
      fmt::print("              {:.1f} MiB are held at the start\n", static_cast<double>(held) / MiB);
    if (emitted > 0)
      fmt::print("              {:.1f} MiB with all that emitters give out{}\n",
                 needed_bytes(scene, with_emitted(amounts, emitted)) / MiB,
                 scene.sinks.empty() ? "" : "; less by what sinks take");
    if (const std::optional<GpuMemory> gpu = on_gpu() ? gpu_memory() : std::nullopt)
      fmt::print("              {:.1f} of the GPU's {:.1f} MiB are free\n", static_cast<double>(gpu->free) / MiB,
                 static_cast<double>(gpu->total) / MiB);
  }

  void print_device_warning(const Scene& scene, const Amounts& amounts) const {
    if (!on_gpu()) return;
    const std::optional<GpuMemory> gpu = gpu_memory();
    if (!gpu) {
      fmt::print("  warning     {}; whether the scene fits a GPU was not checked\n",
                 has_cuda() ? "there is no usable NVIDIA GPU on this machine" : "this tribo was built without CUDA");
      return;
    }
    const double ratio = needed_bytes(scene, amounts) / static_cast<double>(gpu->free);
    if (ratio <= 1) return;
    fmt::print(
        "  warning     does not fit the GPU: {:.1f} times what is free; raise grid.dx from {:.3g} to {:.2g} or "
        "more, lower particles_per_cell, {}or use --device cpu\n",
        ratio, scene.grid.dx, 1.05 * scene.grid.dx * std::pow(ratio, 1.0 / scene.dimension),
        scene.precision == "double" ? "use --precision float, " : "");
  }

  int operator()() {
    const Scene scene = read_scene(flags.scene_path(), flags.overrides());
    const std::vector<Variant> variants = read_variants(flags.scene_path(), flags.overrides());
    // Finds what the text alone does not show; on the CPU when the GPU that was meant is not here or too small.
    SimulationOptions options = flags.simulation_options();
    if (!fits_device(scene)) options.device = "cpu";
    Simulation simulation(scene, options);
    fmt::print("{}: no mistakes found\n", scene.file);
    fmt::print("  name        {}\n", scene.name);
    fmt::print("  frames      {} at {} per second, {} s\n", scene.frame_count(), scene.fps, scene.duration);
    fmt::print("  grid        dx {} m, {} kernel, {}\n", scene.grid.dx, scene.grid.kernel,
               std::visit([](const auto& scheme) { return scheme.name; }, scene.grid.transfer));
    fmt::print("  objects     {}\n", scene.objects.size());
    for (const ObjectSpec& object : scene.objects) {
      if (object.material < 0) {
        fmt::print("    {:<18} {}\n", object.name, object.type);
        continue;
      }
      const MaterialSpec& material = scene.materials[static_cast<std::size_t>(object.material)];
      fmt::print("    {:<18} {} of {} ({})\n", object.name, object.type, material.name, name_of(material.law));
    }
    fmt::print("  colliders   {}\n", scene.colliders.size());
    if (!scene.sinks.empty()) fmt::print("  sinks       {}\n", scene.sinks.size());
    for (const NamedMesh& named : meshes_of(scene)) print_mesh(named);
    const auto particles = simulation.engine().counts().particles;
    const double emitted = expected_amounts(scene).of<ParticleAmounts>().emitted;
    const EngineCounts counts = simulation.engine().counts();
    fmt::print("  particles   {}{}\n", particles,
               emitted > 0 ? fmt::format(", and about {:.0f} from emitters", emitted) : "");
    fmt::print("  tets        {}{}\n", counts.tets,
               counts.tets > 0
                   ? fmt::format(", {} vertices, {} collision particles", counts.vertices, counts.collision_particles)
                   : "");
    fmt::print("  segments    {}{}\n", counts.segments,
               counts.segments > 0 ? fmt::format(" of {} strands", counts.strands) : "");
    const Amounts& amounts = simulation.amounts();
    if (const RigidAmounts& rigid = amounts.of<RigidAmounts>(); counts.bodies > 0)
      fmt::print("  bodies      {} rigid, {:.0f} feelers, about {:.0f} rows of contact where they lie in a heap{}\n",
                 counts.bodies, rigid.felt, rigid.rows(),
                 scene.joints.empty() ? "" : fmt::format("; {} joints", scene.joints.size()));
    print_memory(scene, emitted, amounts, options.device == flags.device ? simulation.engine().bytes() : 0);
    const StepReport first = simulation.engine().next_dt(simulation.frame_time(1));
    fmt::print("  first dt    {:.3e} s, limited by {}\n", first.dt, first.limit);
    if (!variants.empty()) {
      std::vector<std::string> names;
      for (const Variant& variant : variants) names.push_back(variant.name);
      fmt::print("  variants    {} (tribo compare)\n", fmt::join(names, ", "));
    }
    for (const std::string& warning : simulation.warnings()) fmt::print("  warning     {}\n", warning);
    print_device_warning(scene, with_emitted(amounts, scene.sinks.empty() ? emitted : 0));
    return static_cast<int>(ExitCode::done);
  }
};

struct ListCommand {
  std::string kind;

  void add_to(CLI::App& app) {
    app.add_option("kind", kind, fmt::format("{}", fmt::join(list_kinds(), ", ")))
        ->required()
        ->check(CLI::IsMember(list_kinds()));
  }
  int operator()() {
    for (const ListEntry& entry : list_entries(kind)) {
      fmt::print("{:<22} {}\n", entry.name, entry.doc);
      for (const std::string& detail : entry.details) fmt::print("    {}\n", detail);
    }
    return 0;
  }
};

struct SchemaCommand {
  bool reference = false;
  void add_to(CLI::App& app) {
    app.add_flag("--reference", reference, "print the scene reference manual (Markdown) instead");
  }
  int operator()() {
    fmt::print("{}", reference ? scene_reference() : scene_schema() + "\n");
    return 0;
  }
};

std::vector<std::string> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string> names;
  for (const Choice& choice : choices) names.emplace_back(choice.name);
  return names;
}

struct BenchCommand {
  std::vector<std::string> names;
  BenchOptions options;
  RenderBenchOptions render_options;
  std::vector<double> particles;
  void add_to(CLI::App& app) {
    app.add_option("names", names, "which benchmarks: mpm, render, rigid, rods, solids; mpm when not given")
        ->check(CLI::IsMember({"mpm", "render", "rigid", "rods", "solids"}));
    app.add_option("--material", options.materials, "only these laws (see tribo list models)");
    app.add_option("--particles", particles, "how many particles; of rigid, bodies")->check(CLI::Range(8.0, 2e9));
    app.add_option("--threads", options.threads, "how many threads; one and all when not given");
    app.add_option("--transfer", options.transfer, "transfer scheme")->check(CLI::IsMember(names_of(transfers())));
    app.add_option("--kernel", options.kernel, "interpolation kernel")->check(CLI::IsMember(names_of(kernels())));
    app.add_option("--force", options.force, "mls or gradient")->check(CLI::IsMember({"mls", "gradient"}));
    app.add_option("--state", options.state, "of the block: flight, impact on a floor, or flight in pieces far apart")
        ->check(CLI::IsMember({"flight", "impact", "apart"}));
    app.add_option("--device", options.device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
    app.add_option("--precision", options.precision, "float or double")->check(CLI::IsMember({"float", "double"}));
    app.add_option("--isa", options.isa, "CPU instruction set")->check(CLI::IsMember(available_isas()));
    app.add_option("--repeats", options.repeats, "measurements of each row")->check(CLI::Range(1, 1000));
    app.add_option("--csv", options.csv, "append the rows to this file");
  }
  int operator()() {
    if (names.empty()) names = {"mpm"};
    if (!particles.empty()) options.particles = render_options.particles = particles;
    for (const std::string& name : names) {
      if (name == "mpm") bench_mpm(options);
      if (name == "render") bench_render(render_options);
      if (name == "rigid") bench_rigid(options);
      if (name == "rods") bench_rods(options);
      if (name == "solids") bench_solids(options);
    }
    return 0;
  }
};

template <class Command>
void add_command(CLI::App& app, const char* name, const char* doc, Command& command, std::function<int()>& action) {
  CLI::App* const sub = app.add_subcommand(name, doc);
  command.add_to(*sub);
  sub->callback([&] { action = [&] { return command(); }; });
}

/// Leaves no surprise of the environment to the rest of the program.
void prepare_process() {
  // With standard output closed, the next file to be opened would take its place, and progress be written into it.
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) ::close(fd);
  std::signal(SIGXFSZ, SIG_IGN);  // a file above the limit shown by ulimit -f is an error of writing like others
}

/// Lost output is a failure, as of any program.
int with_output_flushed(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "cannot write to standard output\n");
  return status == 0 ? static_cast<int>(ExitCode::io) : status;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_process();
  // Built for better processors alone, it must not go on: inline functions that every file has are compiled for them.
  if (available_isas().empty()) {
    fmt::print(stderr,
               "this tribo was built for processors with {}, which this one is not; build it here, or with "
               "-DTRIBO_ISAS=ALL for all\n",
               built_isas());
    return static_cast<int>(ExitCode::device);
  }
  CLI::App app{"tribo: frictional contact between diverse materials"};
  app.set_version_flag("--version", std::string("tribo ") + version());
  app.require_subcommand(1);
  RunCommand run;
  CheckCommand check;
  RenderCommand render;
  ExportCommand export_frames;
  StatsCommand stats;
  CompareCommand compare;
  ListCommand list;
  SchemaCommand schema;
  BenchCommand bench;
  std::function<int()> action;
  add_command(app, "run", "simulate a scene into a run directory", run, action);
  add_command(app, "check", "find every mistake in a scene, or sum it up", check, action);
  add_command(app, "render", "pictures and movies of a run", render, action);
  add_command(app, "export", "write a run's frames for other programs", export_frames, action);
  add_command(app, "stats", "energies, momenta and times of a run", stats, action);
  add_command(app, "compare", "run variants of a scene, and show them side by side", compare, action);
  add_command(app, "list", "what scenes can name", list, action);
  add_command(app, "schema", "JSON Schema of the scene format, for editors", schema, action);
  add_command(app, "bench", "throughput table", bench, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
  }
  try {
    return with_output_flushed(action());
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "out of memory; use a larger grid spacing or fewer particles\n");
    return static_cast<int>(ExitCode::device);
  } catch (const std::system_error& error) {  // of the operating system: standard output on a full disk, for one
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(ExitCode::io);
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\nPlease report this with the scene file.\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
