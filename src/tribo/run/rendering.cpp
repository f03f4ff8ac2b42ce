#include "tribo/run/rendering.h"

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/core/process.h"
#include "tribo/io/file.h"
#include "tribo/io/run_directory.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/render/renderer.h"
#include "tribo/run/frame_selection.h"

namespace tribo {
namespace {

using Json = nlohmann::json;

bool is_visible(const Scene& scene, const std::string& object_name) {
  for (const ObjectSpec& object : scene.objects)
    if (object.name == object_name) return object.look.visible;
  return false;
}

/// Bounds of all visible objects in a line of statistics; empty when it does not say.
ViewBounds bounds_in(const std::string& line, const Scene& scene) {
  ViewBounds bounds;
  const Json stats = Json::parse(line, nullptr, false);
  if (!stats.is_object() || !stats.contains("objects")) return bounds;
  for (const auto& [name, object] : stats["objects"].items()) {
    if (!is_visible(scene, name) || object.value("mass", 1.0) == 0) continue;  // nothing is nowhere
    for (const char* key : {"min", "max"}) {
      const Json corner = object.value(key, Json());
      if (!corner.is_array() || corner.size() != 3 || !corner[0].is_number() || !corner[1].is_number() ||
          !corner[2].is_number())
        continue;
      bounds.include(Vec<double, 3>{{corner[0].get<double>(), corner[1].get<double>(), corner[2].get<double>()}});
    }
  }
  return bounds;
}

/// Where the objects are in all the frames: from the statistics, which hold it; else from the frames to be drawn.
ViewBounds bounds_of_motion(const RunDirectory& run, const Scene& scene, const std::vector<int>& frames) {
  ViewBounds bounds;
  for (const std::string& line : run.read_stats()) bounds.include(bounds_in(line, scene));
  if (!bounds.empty()) return bounds;
  for (const int number : frames) {
    const Frame frame = run.read_frame(number);
    const NamedArray& x = *frame.find("x");
    for (std::size_t i = 0; i < x.count; ++i) {
      Vec<double, 3> p = Vec<double, 3>::zero();
      for (std::uint32_t k = 0; k < x.components; ++k) p[static_cast<int>(k)] = number_at(x, i * x.components + k);
      bounds.include(p);
    }
  }
  return bounds;
}

/// Of what the colors show, over all the frames to be drawn.
ValueRange values_of(const RunDirectory& run, const Scene& scene, const std::vector<int>& frames) {
  ValueRange range;
  const RenderSpec& spec = scene.render;
  if (!is_on_scale(spec.color) || (spec.low && spec.high)) return range;
  for (const int number : frames) {
    const Frame frame = run.read_frame(number);
    range.include(value_range(ParticleValue(spec.color, scene, frame), frame.find("x")->count));
  }
  return range;
}

void make_directory(const std::filesystem::path& path) {
  std::error_code error;
  if (!path.empty()) std::filesystem::create_directories(path, error);
  if (error) throw io_error("create", path.string(), error.value());
}

/// Removes a folder in the end when nothing is in it.
class RemoveIfEmpty {
 public:
  explicit RemoveIfEmpty(std::string folder) : folder_(std::move(folder)) {}
  ~RemoveIfEmpty() {
    std::error_code in_use;
    std::filesystem::remove(folder_, in_use);
  }
  RemoveIfEmpty(const RemoveIfEmpty&) = delete;
  RemoveIfEmpty& operator=(const RemoveIfEmpty&) = delete;

 private:
  std::string folder_;
};

/// One picture to draw.
struct Shot {
  int frame;
  double turn;
  std::string path;
};

class Rendering {
 public:
  Rendering(const std::string& directory, const RenderOptions& options)
      : options_(options),
        run_(directory, RunDirectory::Mode::read),
        scene_(parse_scene(run_.read_scene(), run_.scene_path(), options.overrides)),
        frames_(select_frames(run_, options.frames)) {
    require_renderer();
    if (options.framed) {
      scene_.render.camera.from.reset();
      scene_.render.camera.to.reset();
    }
    output_ = options.output;
    const std::string name = as_file_name(scene_.name, "frame");
    if (output_.empty()) {
      const bool still = frames_.size() == 1 && !options.turntable;
      output_ = directory + "/pictures/" + name + (still ? fmt::format("_{:06}.png", frames_[0]) : ".mp4");
    }
    const std::string extension = std::filesystem::path(output_).extension().string();
    movie_ = extension == ".mp4";
    if (!movie_ && extension != ".png")
      throw Error(ExitCode::bad_input, output_ + ": pictures end in .png, movies in .mp4");
    if (!movie_ && options.frames.empty()) frames_ = {frames_.back()};
  }

  RenderResult go() {
    const std::filesystem::path parent = std::filesystem::path(output_).parent_path();
    make_directory(parent);
    std::error_code unknown;
    if (std::filesystem::is_directory(output_, unknown)) throw io_error("write", output_, EISDIR);
    // Before an hour of drawing, not after it.
    if (movie_ && !find_program("ffmpeg"))
      note("ffmpeg is not installed: the pictures will be drawn, but no movie made");
    const std::vector<Shot> shots = plan();
    std::optional<RemoveIfEmpty> folder;
    if (movie_) {
      folder.emplace(pictures());
      make_directory(pictures());
      remove_old_pictures();
      if (frames_.back() - frames_.front() + 1 != static_cast<int>(frames_.size()))
        note(fmt::format("frames are missing between {} and {}: the movie will jump there", frames_.front(),
                         frames_.back()));
    }
    { const AtomicFile probe(shots.front().path); }  // says at once when nothing can be written there
    const Renderer renderer(scene_, bounds_of_motion(run_, scene_, frames_), values_of(run_, scene_, frames_));
    if (const Coloring& coloring = renderer.coloring(); is_on_scale(coloring.mode))
      note(fmt::format("colors show {}, from {:.4g} to {:.4g}", coloring.mode, coloring.low, coloring.high));
    RenderResult result;
    try {
      draw(renderer, shots, result);
    } catch (const Error& error) {
      if (result.files.empty() || !movie_) throw;
      throw Error(error.code(), fmt::format("{}\n{} finished pictures are kept in {}", error.what(),
                                            result.files.size(), pictures()));
    }
    if (movie_) finish_movie(shots.size(), result);
    return result;
  }

 private:
  void draw(const Renderer& renderer, const std::vector<Shot>& shots, RenderResult& result) const {
    for (std::size_t i = 0; i < shots.size(); ++i) {
      const Frame frame = run_.read_frame(shots[i].frame);
      Renderer::Request request{
          .turn = shots[i].turn, .turntable = options_.turntable, .on_progress = {}, .stop = options_.stop};
      const auto report = [&, i](double share) {
        if (options_.on_progress) options_.on_progress(static_cast<double>(i) + share, static_cast<int>(shots.size()));
      };
      request.on_progress = report;
      const auto picture = renderer.draw(frame, request);
      if (!picture) {
        result.finished = false;
        return;
      }
      write_png(shots[i].path, *picture, picture_texts(scene_, frame));
      result.files.push_back(shots[i].path);
      report(1);
    }
  }

  void note(const std::string& text) const {
    if (options_.on_note) options_.on_note(text);
  }

  /// Folder for the pictures of a movie.
  std::string pictures() const { return output_.substr(0, output_.size() - 4) + ".frames"; }

  /// Of an earlier movie of that name.
  void remove_old_pictures() const {
    std::error_code error;
    std::vector<std::filesystem::path> old;
    for (const auto& entry : std::filesystem::directory_iterator(pictures(), error)) {
      const std::string name = entry.path().filename().string();
      const bool numbered = name.size() == 10 && name.find_first_not_of("0123456789") == 6 && name.ends_with(".png");
      if (numbered) old.push_back(entry.path());
    }
    for (const std::filesystem::path& path : old) std::filesystem::remove(path, error);
  }

  std::vector<Shot> plan() const {
    constexpr int views = 96;  // of one frame on a turntable: four seconds
    std::vector<Shot> shots;
    const bool still = frames_.size() == 1;
    const std::size_t count = still && options_.turntable ? views : frames_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const int frame = frames_[still ? 0 : i];
      const double turn = options_.turntable ? 360.0 * static_cast<double>(i) / static_cast<double>(count) : 0;
      shots.push_back({frame, turn, picture_path(i, frame, count)});
    }
    return shots;
  }
  std::string picture_path(std::size_t index, int frame, std::size_t count) const {
    if (movie_) return fmt::format("{}/{:06}.png", pictures(), index);
    if (count == 1) return output_;
    const bool turning = frames_.size() == 1;
    return fmt::format("{}_{:06}.png", output_.substr(0, output_.size() - 4),
                       turning ? static_cast<int>(index) : frame);
  }

  void finish_movie(std::size_t count, RenderResult& result) const {
    if (!result.finished) {
      if (!result.files.empty()) result.pictures = pictures();
      return;
    }
    const double fps = frames_.size() == 1 ? 24 : scene_.fps;
    try {
      write_movie(output_, {pictures(), "", 0, count}, fps);
    } catch (const Error& error) {
      if (options_.stop != nullptr && options_.stop->load()) {  // Ctrl-C reached ffmpeg, too
        result.finished = false;
        result.pictures = pictures();
        return;
      }
      throw Error(error.code(), fmt::format("{}\nthe pictures are in {}", error.what(), pictures()));
    }
    result.files = {output_};
    if (options_.keep_pictures) {
      result.pictures = pictures();
      return;
    }
    std::error_code error;  // what cannot be removed does no harm
    for (std::size_t i = 0; i < count; ++i) std::filesystem::remove(fmt::format("{}/{:06}.png", pictures(), i), error);
  }

  const RenderOptions& options_;
  RunDirectory run_;
  Scene scene_;
  std::vector<int> frames_;
  std::string output_;
  bool movie_ = false;
};

/// Numbers between commas; nothing when something else is there.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at <= end) {
    double number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || !std::isfinite(number) || (next != end && *next != ',')) return {};
    numbers.push_back(number);
    if (next == end) return numbers;
    at = next + 1;
  }
  return {};
}

std::string json_list(const std::vector<double>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

}  // namespace

RenderResult render_run(const std::string& directory, const RenderOptions& options) {
  std::optional<tbb::global_control> limit;
  if (options.threads > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(options.threads));
  return Rendering(directory, options).go();
}

CameraChoice parse_camera(const std::string& text) {
  static const std::map<std::string, std::pair<double, double>> views{
      {"front", {0, 0}}, {"right", {90, 0}}, {"back", {180, 0}}, {"left", {-90, 0}}, {"top", {0, 90}}};
  const auto angles = [](double azimuth, double elevation) {
    return CameraChoice{{{"/render/camera/azimuth", fmt::format("{}", azimuth)},
                         {"/render/camera/elevation", fmt::format("{}", elevation)}},
                        true};
  };
  if (const auto view = views.find(text); view != views.end()) return angles(view->second.first, view->second.second);
  std::vector<std::vector<double>> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(numbers_in(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (parts.size() == 1 && parts[0].size() == 2) return angles(parts[0][0], parts[0][1]);
  const bool placed = (parts.size() == 2 || parts.size() == 3) && parts[0].size() == 3 && parts[1].size() == 3;
  if (placed && (parts.size() == 2 || parts[2].size() == 1)) {
    std::vector<Override> all{{"/render/camera/from", json_list(parts[0])}, {"/render/camera/to", json_list(parts[1])}};
    if (parts.size() == 3) all.push_back({"/render/camera/fov", fmt::format("{}", parts[2][0])});
    return {all, false};
  }
  throw Error(ExitCode::bad_input,
              fmt::format("--camera {}: expected front, back, left, right, top, AZIMUTH,ELEVATION in degrees, or "
                          "X,Y,Z:X,Y,Z or X,Y,Z:X,Y,Z:FOV (from, to, field of view)",
                          text));
}

}  // namespace tribo
