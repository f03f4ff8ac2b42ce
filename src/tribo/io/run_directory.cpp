#include "tribo/io/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace tribo {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string another_directory = "choose another directory with -o";

std::string frame_name(std::int64_t number) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%06" PRId64 ".tbf", number);
  return name.data();
}

std::string checkpoint_name(std::int64_t step) {
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "step_%012" PRId64 ".tbc", step);
  return name.data();
}

/// The number in a name that `format` makes; nothing for any other name, so that foreign files are never taken for
/// ours.
std::optional<std::int64_t> number_in(const std::string& name, std::string (*format)(std::int64_t)) {
  const std::size_t begin = name.find_first_of("0123456789");
  if (begin == std::string::npos) return {};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (error != std::errc() || format(number) != name) return {};
  return number;
}

fs::file_type type_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) throw io_error("look at", path, error.value());
  return status.type();
}

/// A dangling symbolic link counts too: something stands there.
bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool is_directory(const std::string& path) { return type_of(path) == fs::file_type::directory; }

/// Names in a directory, sorted; none when it does not exist.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  if (type_of(directory) == fs::file_type::not_found) return names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) throw io_error("read", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::int64_t> numbers_in(const std::string& directory, std::string (*format)(std::int64_t)) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : names_in(directory)) {
    if (const auto number = number_in(name, format)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw io_error("remove", path, errno);
}

void make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw io_error("create the directory", path, error.value());
}

/// Everything in a run directory that tribo itself wrote, in the order in which to remove it: the checkpoints first, so
/// that a half removed run cannot be resumed, and scene.json last, so that it can still be told for a run.
std::vector<std::string> files_of_run(const std::string& path) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& folder, const std::function<bool(const std::string&)>& is_ours) {
    if (!is_directory(path + folder)) return;
    for (const std::string& name : names_in(path + folder)) {
      if (is_ours(name)) files.push_back(path + folder + "/" + name);
    }
  };
  add("/checkpoints", [](const std::string& name) { return number_in(name, checkpoint_name).has_value(); });
  add("/frames", [](const std::string& name) { return number_in(name, frame_name).has_value(); });
  for (const char* name : {"/diverged.tbc", "/stats.jsonl", "/log.txt", "/scene.json"}) {
    if (exists(path + name)) files.push_back(path + name);
  }
  return files;
}

/// A user's own scene.json does not make a run: the folders are created before tribo writes its scene.
bool has_folders_of_run(const std::string& path) {
  return is_directory(path + "/frames") && is_directory(path + "/checkpoints");
}

bool holds_run(const std::string& path) { return has_folders_of_run(path) && exists(path + "/scene.json"); }

/// Refuses a directory in which a new run would mix with, or destroy, what is there. Changes nothing.
void check_free_for_run(const std::string& path, RunDirectory::Mode mode) {
  for (const char* folder : {"/frames", "/checkpoints"}) {
    if (exists(path + folder) && !is_directory(path + folder)) {
      throw IoError(path + folder + " is a file where a run needs a directory: move it away or " + another_directory);
    }
  }
  if (holds_run(path)) {
    if (mode == RunDirectory::Mode::overwrite) return;
    throw IoError(path + " already holds a run: use --overwrite to replace it or --resume to continue it");
  }
  for (const std::string& file : files_of_run(path)) {
    // A run that ended before its scene was written may have logged; there is nothing in it to lose.
    if (file == path + "/log.txt" && has_folders_of_run(path)) continue;
    throw IoError(path + " holds no run of tribo, yet a file that a run would write: " + file + "; move it away or " +
                  another_directory);
  }
}

/// To look at a run its scene is enough; to continue it, it must be one that tribo made.
void check_holds_run(const std::string& path, RunDirectory::Mode mode) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::not_found) throw IoError(path + " does not exist: check the path of the run directory");
  if (type != fs::file_type::directory) throw IoError(path + " is a file, not a run directory: check the path");
  const auto missing = [&](const std::string& what) {
    throw IoError(path + " holds no run (no " + what + " in it): check the path" +
                  (mode == RunDirectory::Mode::resume ? ", or start a run without --resume" : ""));
  };
  if (type_of(path + "/scene.json") != fs::file_type::regular) missing("scene.json");
  if (mode == RunDirectory::Mode::resume && !has_folders_of_run(path)) missing("frames and checkpoints");
}

FileDescriptor lock_directory(const std::string& path) {
  const std::string lock_path = path + "/.lock";
  FileDescriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock) throw io_error("write", lock_path, errno);
  // File systems without locks say ENOLCK or ENOTSUP: better an unguarded run than none.
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw IoError(path + ": another tribo process is writing to this directory: wait until it ends or " +
                  another_directory);
  }
  return lock;
}

/// Under the lock nobody else writes a run here, so a temporary of one of its files is what a killed process left.
void remove_leftovers(const std::string& path) {
  for (const std::string& name : names_in(path)) {
    const bool is_ours = name.starts_with(".scene.json.") || name.starts_with(".stats.jsonl.");
    if (is_ours && is_temporary_name(name)) remove_file(path + "/" + name);
  }
  for (const std::string& folder : {path + "/frames/", path + "/checkpoints/", path + "/meshes/"}) {
    for (const std::string& name : names_in(folder)) {
      if (is_temporary_name(name)) remove_file(folder + name);
    }
  }
}

std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

/// Cuts the file that holds `text` to its first `size` bytes.
void shorten(const std::string& path, const std::string& text, std::size_t size) {
  if (size == text.size()) return;
  if (::truncate(path.c_str(), static_cast<off_t>(size)) != 0) throw io_error("shorten", path, errno);
}

/// A line that a killed process could not finish would swallow the next one appended.
void drop_unfinished_line(const std::string& path) {
  if (type_of(path) != fs::file_type::regular) return;
  const std::string text = read_text(path);
  const std::size_t newline = text.rfind('\n');
  shorten(path, text, newline == std::string::npos ? 0 : newline + 1);
}

/// The integer `frame` of a JSON object; nothing when the text is no such thing.
std::optional<int> frame_in(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("frame")) return {};
  const json& frame = object["frame"];
  if (!frame.is_number_integer() || frame < 0 || frame > std::numeric_limits<int>::max()) return {};
  return frame.get<int>();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace

void RunDirectory::check(const std::string& path, Mode mode) {
  if (path.empty()) throw IoError("the path of the run directory is empty: name one with -o");
  if (mode == Mode::resume || mode == Mode::read) {
    check_holds_run(path, mode);
  } else {
    check_free_for_run(path, mode);
  }
}

bool RunDirectory::holds_run(const std::string& path) { return tribo::holds_run(path); }

RunDirectory::RunDirectory(std::string path, Mode mode) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  check(path_, mode);
  if (mode == Mode::read) return;
  // Checked once before the lock file is made, to leave a refused directory untouched, and again under the lock.
  if (mode != Mode::resume) make_directory(path_);
  lock_ = lock_directory(path_);
  check(path_, mode);
  if (mode == Mode::overwrite && holds_run(path_)) {
    for (const std::string& file : files_of_run(path_)) remove_file(file);
  }
  make_directory(path_ + "/frames");
  make_directory(path_ + "/checkpoints");
  remove_leftovers(path_);
  drop_unfinished_line(path_ + "/stats.jsonl");
  drop_unfinished_line(path_ + "/log.txt");
}

void RunDirectory::require_writable() const {
  if (!lock_)
    throw Error(ExitCode::internal, path_ + " was opened for reading only (a bug in tribo: please report it)");
}

std::string RunDirectory::scene_path() const { return path_ + "/scene.json"; }

void RunDirectory::write_scene(const std::string& resolved_json) {
  require_writable();
  write_text(scene_path(), resolved_json);
}

void RunDirectory::keep_file(const std::string& name, const std::string& bytes) {
  require_writable();
  const std::string file = path_ + "/" + name;
  if (type_of(file) == fs::file_type::regular) return;
  make_directory(fs::path(file).parent_path().string());
  write_text(file, bytes);
}

std::string RunDirectory::read_scene() const { return read_text(scene_path()); }

std::string RunDirectory::frame_path(int number) const { return path_ + "/frames/" + frame_name(number); }

void RunDirectory::write_frame(const Frame& frame) {
  require_writable();
  tribo::write_frame(frame_path(frame.number), frame);
}

Frame RunDirectory::read_frame(int number) const {
  const std::string file = frame_path(number);
  if (type_of(file) == fs::file_type::not_found) {
    const std::vector<int> present = frames();
    throw IoError(path_ + " has no frame " + std::to_string(number) +
                  (present.empty() ? ": it has no frames yet"
                                   : ": choose one from " + std::to_string(present.front()) + " to " +
                                         std::to_string(present.back())));
  }
  Frame frame = tribo::read_frame(file);
  if (frame.number != number) {
    throw IoError(file + " holds frame " + std::to_string(frame.number) +
                  ": it was renamed; give it its own name back");
  }
  return frame;
}

std::vector<int> RunDirectory::frames() const {
  std::vector<int> numbers;
  for (const std::int64_t number : numbers_in(path_ + "/frames", frame_name)) {
    if (number <= std::numeric_limits<int>::max()) numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

std::string RunDirectory::checkpoint_path(std::int64_t step) const {
  return path_ + "/checkpoints/" + checkpoint_name(step);
}

std::string RunDirectory::diverged_path() const { return path_ + "/diverged.tbc"; }

std::vector<std::int64_t> RunDirectory::checkpoints() const {
  return numbers_in(path_ + "/checkpoints", checkpoint_name);
}

void RunDirectory::write_checkpoint(const Container& checkpoint, std::int64_t step, int keep) {
  require_writable();
  if (checkpoint.kind != "checkpoint" || !frame_in(checkpoint.meta) || step < 0 || keep < 1) {
    throw Error(ExitCode::internal, "write_checkpoint: not a checkpoint with a frame, or a bad step or number to keep");
  }
  write_container(checkpoint_path(step), checkpoint);
  // Only after the new one is safely on disk may old ones go.
  std::vector<std::int64_t> older = checkpoints();
  std::erase_if(older, [&](std::int64_t other) { return other >= step; });
  for (auto kept = static_cast<std::size_t>(keep - 1); older.size() > kept; older.erase(older.begin())) {
    remove_file(checkpoint_path(older.front()));
  }
}

RunDirectory::Loaded RunDirectory::read_checkpoint(std::optional<int> from) const {
  std::vector<std::int64_t> steps = checkpoints();
  std::vector<std::string> reasons;   // why each was passed over
  std::vector<std::string> warnings;  // the part of them that is damage
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::string file = checkpoint_path(*step);
    try {
      const std::optional<int> frame = frame_in(read_container_meta(file, "checkpoint"));
      if (!frame) throw IoError(file + " is damaged: its header names no frame");
      if (from && *frame > *from) {
        reasons.push_back(file + " is of frame " + std::to_string(*frame) + ", after the one asked for");
        continue;
      }
      return {read_container(file, "checkpoint"), *step, *frame, file, std::move(warnings)};
    } catch (const IoError& error) {
      reasons.emplace_back(error.what());
      warnings.emplace_back(error.what());
    }
  }
  std::string message = path_ + " has no checkpoint to resume from";
  if (from) message += " at or before frame " + std::to_string(*from);
  for (const std::string& reason : reasons) message += "\n  " + reason;
  throw IoError(message + "\n" + (from ? "Choose a later frame with --from, or start" : "Start") +
                " anew with --overwrite.");
}

void RunDirectory::append_stats(const std::string& json_object) {
  require_writable();
  if (json_object.find('\n') != std::string::npos) {
    throw Error(ExitCode::internal, "append_stats: the JSON object has more than one line");
  }
  append_line(path_ + "/stats.jsonl", json_object);
}

std::vector<std::string> RunDirectory::read_stats() const {
  const std::string file = path_ + "/stats.jsonl";
  if (type_of(file) == fs::file_type::not_found) return {};
  return whole_lines(read_text(file));
}

int RunDirectory::truncate_after(int frame, std::int64_t step) {
  require_writable();
  // Checkpoints go first: killed between the two, the run must not resume behind frames that are gone.
  for (const std::int64_t other : checkpoints()) {
    if (other > step) remove_file(checkpoint_path(other));
  }
  remove_file(diverged_path());
  const std::string stats = path_ + "/stats.jsonl";
  const std::string text = type_of(stats) == fs::file_type::not_found ? "" : read_text(stats);
  std::string kept;
  int unreadable = 0;
  for (const std::string& line : whole_lines(text)) {
    const std::optional<int> number = frame_in(line);
    if (!number) ++unreadable;
    if (number && *number <= frame) kept += line + "\n";
  }
  // Lines are in order, so that cutting the end off is nearly always enough. It needs no space on a full disk.
  if (text.starts_with(kept)) {
    shorten(stats, text, kept.size());
  } else {
    write_text(stats, kept);
  }
  for (const int other : frames()) {
    if (other > frame) remove_file(frame_path(other));
  }
  return unreadable;
}

void RunDirectory::log(const std::string& line) {
  require_writable();
  append_line(path_ + "/log.txt", utc_now() + "  " + line);
}

}  // namespace tribo
