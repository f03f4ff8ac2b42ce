#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interrupt.h"
#include "progress.h"
#include "tribo/core/errors.h"
#include "tribo/run/rendering.h"
#include "tribo/scene/look.h"

namespace tribo {

struct RenderCommand {
  std::string directory;
  RenderOptions options;
  std::string frame;
  std::string size, camera, color;
  std::optional<std::string> range;
  std::optional<int> samples;
  std::vector<std::string> sets;
  bool quiet = false;

  void add_to(CLI::App& app) {
    std::vector<std::string> modes;
    for (const Choice& mode : color_modes()) modes.emplace_back(mode.name);
    app.add_option("directory", directory, "run directory")->required();
    app.add_option("-o,--output", options.output, "a .png or .mp4 file; in DIRECTORY/pictures when not given");
    auto* const one = app.add_option("--frame", frame, "only this one");
    app.add_option("--frames", options.frames, "only these: 3:10, or 3:")->excludes(one);
    app.add_option("--size", size, "of the picture in pixels: 1280x720");
    app.add_option("--samples", samples, "light paths a pixel")->check(CLI::Range(1, 65536));
    app.add_option("--camera", camera,
                   "front, back, left, right, top, AZIMUTH,ELEVATION in degrees, or X,Y,Z:X,Y,Z[:FOV] (from, to)");
    app.add_option("--color", color, fmt::format("what particles are colored by: {}", fmt::join(modes, ", ")))
        ->check(CLI::IsMember(modes));
    app.add_option("--range", range, "values at the ends of the color scale: LOW:HIGH");
    app.add_option("--threads", options.threads, "CPU threads; 0 takes all")->check(CLI::Range(0, 4096));
    app.add_flag("--turntable", options.turntable, "the camera goes around once");
    app.add_flag("--keep-pictures", options.keep_pictures, "of a movie, too");
    app.add_option("--set", sets, "override a value of the scene, e.g. a look: /json/pointer=value (repeatable)")
        ->allow_extra_args(false);
    app.add_flag("-q,--quiet", quiet, "print nothing but errors");
  }

  int operator()() {
    if (frame.find(':') != std::string::npos)
      throw Error(ExitCode::bad_input, fmt::format("--frame {}: expected one frame; --frames takes a range", frame));
    if (!frame.empty()) options.frames = frame;
    for (const std::string& set : sets) options.overrides.push_back(parse_override(set));
    add_flags();
    ProgressDisplay display(quiet);
    options.on_progress = [&](double done, int of) { display.share("drawn", done, of); };
    options.on_note = [&](const std::string& text) {
      if (!quiet) display.note(text);
    };
    options.stop = &stop_requested;
    catch_interrupts();
    const RenderResult result = render_run(directory, options);
    display.finish();
    if (!result.finished) {
      fmt::print(stderr, "stopped on request; {} finished pictures are kept{}\n", result.files.size(),
                 result.pictures.empty() ? "" : " in " + result.pictures);
      return 0;
    }
    if (quiet) return 0;
    if (result.files.size() > 3) {
      fmt::print("{} to {}\n", result.files.front(), result.files.back());
    } else {
      for (const std::string& file : result.files) fmt::print("{}\n", file);
    }
    return 0;
  }

 private:
  /// Flags are overrides of the scene's `render` block.
  void add_flags() {
    const auto set = [&](const char* key, const std::string& value) {
      options.overrides.push_back({std::string("/render/") + key, value});
    };
    const auto is_number = [](const std::string& text) {
      double number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      return error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
    };
    const auto split = [&](const std::string& text, char at, const char* flag, const char* form) {
      const std::size_t middle = std::min(text.find(at), text.size());
      const std::pair parts(text.substr(0, middle), text.substr(std::min(middle + 1, text.size())));
      if (!is_number(parts.first) || !is_number(parts.second))
        throw Error(ExitCode::bad_input, fmt::format("{} {}: expected {}", flag, text, form));
      return parts;
    };
    if (!size.empty()) {
      const auto [width, height] = split(size, 'x', "--size", "WIDTHxHEIGHT, e.g. 1280x720");
      set("width", width);
      set("height", height);
    }
    if (samples) set("samples", std::to_string(*samples));
    if (!color.empty()) set("color", color);
    if (range) {
      const auto [low, high] = split(*range, ':', "--range", "LOW:HIGH, e.g. 0:2.5");
      set("range", fmt::format(R"({{"low": {}, "high": {}}})", low, high));
    }
    if (!camera.empty()) {
      const CameraChoice choice = parse_camera(camera);
      options.overrides.insert(options.overrides.end(), choice.overrides.begin(), choice.overrides.end());
      options.framed = choice.framed;
    }
  }
};

}  // namespace tribo
