#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tribo/io/container.h"
#include "tribo/io/file.h"
#include "tribo/io/frame.h"

namespace tribo {

/// The folder a run leaves behind: resolved scene, frames, checkpoints, statistics and log (docs/file_format.md).
///
/// All modes but `read` hold a lock on the directory, so that two processes cannot write the same run; the kernel drops
/// it when the process ends in whatever way. A run killed at any moment can be resumed: files are whole or absent, and
/// a half last line of text is dropped.
class RunDirectory {
 public:
  enum class Mode {
    create,     ///< refuse a directory that already holds a run
    overwrite,  ///< remove the run (only what tribo wrote) and start anew
    resume,     ///< continue; the directory must hold a run
    read        ///< look only: nothing is created or changed
  };
  /// Throws IoError with file, cause and remedy ("use --overwrite to replace it or --resume to continue it").
  RunDirectory(std::string path, Mode mode);
  /// Throws when what is in the directory forbids `mode`; changes nothing. For refusing before long preparations.
  static void check(const std::string& path, Mode mode);
  /// Whether there is a run of tribo, finished or not; false when there is no such directory.
  static bool holds_run(const std::string& path);

  const std::string& path() const { return path_; }

  void write_scene(const std::string& resolved_json);
  /// Keeps a copy of a file that the scene refers to, under a name within the directory, "meshes/NAME". One that is
  /// there already stays: names are made of contents.
  void keep_file(const std::string& name, const std::string& bytes);
  std::string read_scene() const;  ///< text of DIR/scene.json
  std::string scene_path() const;

  void write_frame(const Frame& frame);
  Frame read_frame(int number) const;
  std::vector<int> frames() const;  ///< numbers present, ascending
  std::string frame_path(int number) const;

  /// `step` orders checkpoints: total substeps taken. The newest `keep` (at least 1) are kept. The meta needs an
  /// integer `frame`: frames completed.
  void write_checkpoint(const Container& checkpoint, std::int64_t step, int keep);
  std::vector<std::int64_t> checkpoints() const;  ///< steps present, ascending
  std::string checkpoint_path(std::int64_t step) const;
  std::string diverged_path() const;  ///< of the state at which a simulation diverged
  struct Loaded {
    Container checkpoint;
    std::int64_t step = 0;
    int frame = 0;  ///< its meta `frame`
    std::string path;
    std::vector<std::string> warnings;  ///< damaged checkpoints that were passed over
  };
  /// The newest checkpoint that verifies and whose meta `frame` (frames completed) is <= `from` when given.
  /// Throws IoError when there is none, listing what was wrong with each.
  Loaded read_checkpoint(std::optional<int> from = {}) const;

  /// One JSON object (no newline inside) appended to stats.jsonl and flushed.
  void append_stats(const std::string& json_object);
  std::vector<std::string> read_stats() const;  ///< whole lines; an unfinished last line is dropped
  /// After loading a checkpoint that had completed `frame`: later frames, statistics and checkpoints are removed so
  /// that a resumed run rewrites them. Gives the number of lines of statistics that could not be read and were dropped.
  int truncate_after(int frame, std::int64_t step);

  /// Appended to log.txt with a UTC time stamp. Throws IoError like every write: mind that when logging an IoError.
  void log(const std::string& line);

 private:
  void require_writable() const;

  std::string path_;
  FileDescriptor lock_;  ///< none in mode `read`
};

}  // namespace tribo
