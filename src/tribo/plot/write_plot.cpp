#include "tribo/plot/write_plot.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/core/process.h"
#include "tribo/io/file.h"

namespace tribo {
namespace {

std::string lower_extension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

/// A folder for files on their way; goes away with all of them.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;  // without a folder for temporary files, the working directory is as good
    const std::filesystem::path parent = std::filesystem::temp_directory_path(none);
    path_ = (none ? std::filesystem::path(".") : parent) / "tribo-plot-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw io_error("create", path_, errno);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct PngResult {
  std::optional<std::string> png;  ///< the bytes
  std::string failure;             ///< of the programs that were there
};

PngResult rasterize(const std::string& svg) {
  const TemporaryFolder folder;
  const std::string from = folder.file("plot.svg");
  const std::string to = folder.file("plot.png");
  write_text(from, svg);
  const std::array<std::vector<std::string>, 2> commands = {{
      {"rsvg-convert", "--output", to, from},
      {"ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y", "-i", from, "-frames:v", "1", to},
  }};
  PngResult result;
  for (const std::vector<std::string>& command : commands) {
    if (!find_program(command[0])) continue;
    const ProcessResult run = run_program(command);
    std::error_code absent;
    if (run.ok() && std::filesystem::exists(to, absent)) {
      std::string bytes = read_text(to);
      if (bytes.starts_with("\x89PNG\r\n\x1a\n")) {
        result.png = std::move(bytes);
        return result;
      }
    }
    result.failure += "; " + command[0] + " failed: " + (run.last_line().empty() ? "no PNG came out" : run.last_line());
  }
  return result;
}

}  // namespace

bool is_plot_name(const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".svg" || extension == ".png";
}

void write_plot(const std::string& path, const std::string& svg) {
  if (!is_plot_name(path)) throw Error(ExitCode::bad_input, path + ": the name of a plot ends in .svg or .png");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw io_error("create", folder.string(), error.value());
  if (lower_extension(path) == ".svg") {
    write_text(path, svg);
    return;
  }
  AtomicFile file(path);  // what cannot be written fails at once
  const PngResult result = rasterize(svg);
  if (!result.png) {
    const std::string kept = std::filesystem::path(path).replace_extension(".svg").string();
    write_text(kept, svg);
    throw DeviceError("cannot write " + path +
                      ": it needs rsvg-convert (package librsvg2-bin) or an ffmpeg that reads SVG (package ffmpeg) on "
                      "the PATH" +
                      result.failure + ". The plot is in " + kept);
  }
  file.write(std::as_bytes(std::span(*result.png)));
  file.commit();
}

}  // namespace tribo
