#include "tribo/render/renderer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/core/process.h"
#include "tribo/io/file.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/render/stage.h"
#include "tribo/render/tracer.h"
#include "tribo/setup/appearance.h"
#include "tribo/simulation.h"

namespace tribo {
namespace {

/// The range of the color scale: as the scene says, else of the values there are.
Coloring chosen_coloring(const RenderSpec& spec, const ValueRange& values) {
  Coloring coloring{spec.color, spec.low.value_or(values.low), spec.high.value_or(values.high)};
  if (!spec.low && spec.color == "velocity") coloring.low = std::min(0.0, coloring.high);
  if (!(coloring.low < coloring.high)) coloring.high = coloring.low + 1;  // nothing to tell apart
  return coloring;
}

/// Where a movie is while it is being made.
std::string unfinished(const std::string& movie) { return movie + ".part.mp4"; }

std::string movie_path(const FileSequence& pictures) { return pictures.directory() + "/" + pictures.stem() + ".mp4"; }

/// One picture a frame, in step with the simulation.
class PictureWriter final : public FrameWriter {
 public:
  PictureWriter(const std::string& directory, const Scene& scene, const std::atomic<bool>* stop,
                std::function<void(const std::string&)> on_note)
      : scene_(scene),
        stop_(stop),
        on_note_(std::move(on_note)),
        files_(directory, scene.name, ".png"),
        renderer_(scene, expected_motion(scene), {}) {
    require_renderer_while_simulating(scene);
  }

  void write(const Frame& frame) override {
    // Not to be stopped: a resumed run goes on after this frame, and would leave a gap.
    const auto picture = renderer_.draw(frame, {.turn = 0, .turntable = false, .on_progress = {}, .stop = nullptr});
    write_png(files_.path_to_write(frame.number), *picture, picture_texts(scene_, frame));
  }
  void remove_after(int frame) override { remove_pictures_after(files_.directory(), scene_.name, frame); }
  void finish() override {
    const std::vector<int> frames = files_.frames();
    if (frames.empty()) return;
    const std::string last = files_.directory() + "/" + files_.file_name(frames.back());
    on_note_("picture: " + last);
    if (frames.size() < 2 || (stop_ != nullptr && stop_->load())) return;
    if (frames.front() > 0)
      on_note_(fmt::format("the first {} pictures were not drawn; 'tribo render' makes a movie of the whole run",
                           frames.front()));
    if (frames.back() - frames.front() + 1 != static_cast<int>(frames.size())) {
      on_note_("no movie: pictures are missing in " + files_.directory());
      return;
    }
    try {
      write_movie(movie_path(files_), {files_.directory(), files_.stem() + "_", frames.front(), frames.size()},
                  scene_.fps);
      on_note_("movie:   " + movie_path(files_));
    } catch (const Error& error) {  // pictures are there; a run is not lost for want of a movie
      on_note_(fmt::format("no movie: {}", error.what()));
    }
  }

 private:
  const Scene& scene_;
  const std::atomic<bool>* stop_;
  std::function<void(const std::string&)> on_note_;
  FileSequence files_;
  Renderer renderer_;
};

}  // namespace

void require_renderer() {
  if (!can_render())
    throw DeviceError(
        "this build cannot draw: Embree was not found (install libembree-dev and libpng-dev, build again)");
}

void require_renderer_while_simulating(const Scene& scene) {
  require_renderer();
  if (is_on_scale(scene.render.color) && !(scene.render.low && scene.render.high))
    throw SceneError({Finding{scene.file, 0, 0, "/render/range",
                              "pictures drawn while simulating need `low` and `high` to color by " +
                                  scene.render.color + ": what values will come is not known yet"}});
}

std::vector<std::pair<std::string, std::string>> picture_texts(const Scene& scene, const Frame& frame) {
  return {{"Software", std::string("tribo ") + version()},
          {"Title", scene.name},
          {"Description", fmt::format("frame {}, time {} s", frame.number, frame.time)}};
}

Renderer::Renderer(const Scene& scene, const ViewBounds& motion, const ValueRange& values)
    : scene_(scene), shown_(interesting_bounds(scene, motion)), coloring_(chosen_coloring(scene.render, values)) {
  require_renderer();
}

std::optional<Picture> Renderer::draw(const Frame& frame, const Request& request) const {
  RenderSpec spec = scene_.render;
  if (scene_.dimension == 2) {  // the plane is seen from the front
    spec.camera = {};
    spec.camera.fov = scene_.render.camera.fov;
    spec.camera.azimuth = spec.camera.elevation = 0;
  }
  const Horizon horizon(up_direction(scene_));
  const double aspect = static_cast<double>(spec.width) / static_cast<double>(spec.height);
  const Vec<double, 3> center = spec.camera.to.value_or(shown_.center());
  Camera camera = place_camera(spec.camera, shown_, horizon, aspect);
  if (request.turntable && !spec.camera.from) camera = drawn_back(camera, shown_, center, horizon, aspect);
  camera = turned(camera, center, horizon, request.turn);
  TraceOptions options;
  options.width = spec.width;
  options.height = spec.height;
  options.samples = spec.samples;
  options.sun = horizon.direction(spec.sun_azimuth, spec.sun_elevation);
  options.sun_diameter = spec.sun_size;
  options.exposure = spec.exposure;
  options.on_progress = request.on_progress;
  options.stop = request.stop;
  Stage stage = build_stage(scene_, frame, coloring_, shown_);
  keep_fibers_visible(stage, camera, spec.height);
  return trace(stage, camera, options);
}

void write_movie(const std::string& path, const MovieSource& source, double fps) {
  const auto ffmpeg = find_program("ffmpeg");
  if (!ffmpeg) throw DeviceError("movies need the program ffmpeg, which is not installed (apt-get install ffmpeg)");
  // Beside the final name and renamed, so that a movie is whole or not there. H.264 wants even sizes. "file:", lest a
  // colon in a path be taken for a protocol.
  const std::string temporary = unfinished(path);
  std::string pattern = source.folder + "/" + source.prefix;
  for (std::size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2))
    pattern.insert(at, 1, '%');  // a percent sign of a path, not that of the number
  const ProcessResult result = run_program({*ffmpeg,
                                            "-nostdin",
                                            "-hide_banner",
                                            "-loglevel",
                                            "error",
                                            "-y",
                                            "-framerate",
                                            fmt::format("{}", fps),
                                            "-start_number",
                                            std::to_string(source.first),
                                            "-i",
                                            "file:" + pattern + "%06d.png",
                                            "-frames:v",
                                            std::to_string(source.count),
                                            "-vf",
                                            "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                            "-c:v",
                                            "libx264",
                                            "-pix_fmt",
                                            "yuv420p",
                                            "-crf",
                                            "18",
                                            "-movflags",
                                            "+faststart",
                                            "file:" + temporary});
  std::error_code error;
  if (!result.ok()) {
    std::filesystem::remove(temporary, error);
    throw IoError(fmt::format("ffmpeg could not write {}: {}", path, result.last_line()));
  }
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::error_code left;
    std::filesystem::remove(temporary, left);
    throw io_error("write", path, error.value());
  }
}

void remove_pictures_after(const std::string& directory, const std::string& scene_name, int frame) {
  const FileSequence files(directory, scene_name, ".png");
  files.remove_after(frame);
  std::error_code missing;
  for (const std::string& movie : {movie_path(files), unfinished(movie_path(files))})
    std::filesystem::remove(movie, missing);
}

std::unique_ptr<FrameWriter> open_picture_writer(const std::string& directory, const Scene& scene,
                                                 const std::atomic<bool>* stop,
                                                 std::function<void(const std::string&)> on_note) {
  return std::make_unique<PictureWriter>(directory, scene, stop, std::move(on_note));
}

}  // namespace tribo
