#include "tribo/io/run_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "scratch.h"

namespace tribo {
namespace {

using Mode = RunDirectory::Mode;

std::string stats_line(int frame) { return "{\"frame\":" + std::to_string(frame) + ",\"mass\":1.5}"; }

/// A run of frames 0 to `last`, with a checkpoint of step 10 * frame after each, all kept.
void make_run(const std::string& path, int last) {
  RunDirectory run(path, Mode::create);
  run.write_scene("{\"tribo\": 1}");
  for (int frame = 0; frame <= last; ++frame) {
    run.write_frame(some_frame(frame, 20));
    run.append_stats(stats_line(frame));
    run.write_checkpoint(some_checkpoint(frame, 20), 10 * frame, 100);
  }
  run.log("done");
}

void spoil(const std::string& path) {
  std::string bytes = read_bytes(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  write_bytes(path, bytes);
}

TEST(RunDirectory, has_the_documented_layout) {
  const Scratch dir;
  const std::string path = dir / "deep/er/run";
  make_run(path, 2);
  EXPECT_EQ(listing(path),
            (std::vector<std::string>{".lock", "checkpoints", "frames", "log.txt", "scene.json", "stats.jsonl"}));
  EXPECT_EQ(listing(path + "/frames"), (std::vector<std::string>{"000000.tbf", "000001.tbf", "000002.tbf"}));
  EXPECT_EQ(listing(path + "/checkpoints").back(), "step_000000000020.tbc");

  const RunDirectory run(path + "/", Mode::read);
  EXPECT_EQ(run.path(), path);
  EXPECT_EQ(run.read_scene(), "{\"tribo\": 1}");
  EXPECT_EQ(run.frames(), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(equal(run.read_frame(1), some_frame(1, 20)));
  EXPECT_EQ(run.read_stats(), (std::vector<std::string>{stats_line(0), stats_line(1), stats_line(2)}));
  EXPECT_TRUE(contains(read_bytes(path + "/log.txt"), "Z  done\n"));
}

TEST(RunDirectory, reading_changes_nothing) {
  const Scratch dir;
  write_bytes(dir / "scene.json", "{}");
  RunDirectory run(dir.path(), Mode::read);
  EXPECT_TRUE(run.frames().empty());
  EXPECT_TRUE(run.read_stats().empty());
  EXPECT_THROW(run.write_scene("{}"), Error);
  EXPECT_THROW(run.write_frame(some_frame(0)), Error);
  EXPECT_THROW(run.append_stats("{}"), Error);
  EXPECT_THROW(run.log("x"), Error);
  EXPECT_THROW(run.truncate_after(0, 0), Error);
  EXPECT_EQ(listing(dir.path()), std::vector<std::string>{"scene.json"});
}

TEST(RunDirectory, create_refuses_a_run) {
  const Scratch dir;
  make_run(dir / "run", 0);
  const std::string message = io_error_of([&] { RunDirectory(dir / "run", Mode::create); });
  EXPECT_TRUE(contains(message, "already holds a run: use --overwrite to replace it or --resume to continue it"));
}

TEST(RunDirectory, create_accepts_what_does_not_collide) {
  const Scratch dir;
  RunDirectory(dir.path(), Mode::create);  // empty
  RunDirectory(dir.path(), Mode::create);  // a run that ended before its scene was written
  write_bytes(dir / "notes.md", "mine");
  write_bytes(dir / "frames/picture.png", "mine");
  write_bytes(dir / "log.txt", "2000-01-01T00:00:00Z  ended early\n");
  RunDirectory(dir.path(), Mode::create).write_scene("{}");
  EXPECT_EQ(read_bytes(dir / "notes.md"), "mine");
}

TEST(RunDirectory, leaves_alone_what_is_not_a_run) {
  for (const std::string name : {"scene.json", "stats.jsonl", "log.txt", "frames/000003.tbf"}) {
    const Scratch dir;
    if (name.starts_with("frames")) std::filesystem::create_directory(dir / "frames");
    write_bytes(dir / name, "mine");
    const auto before = listing(dir.path());
    for (const Mode mode : {Mode::create, Mode::overwrite}) {
      const std::string message = io_error_of([&] { RunDirectory(dir.path(), mode); });
      EXPECT_TRUE(contains(message, name));
      EXPECT_TRUE(contains(message, "-o"));
    }
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir.path(), Mode::resume); }), "holds no run"));
    EXPECT_EQ(read_bytes(dir / name), "mine");
    EXPECT_EQ(listing(dir.path()), before);
  }
}

TEST(RunDirectory, overwrite_removes_only_what_tribo_wrote) {
  const Scratch dir;
  make_run(dir.path(), 3);
  const std::vector<std::string> mine = {"notes.md",         "frames/000000.png", "frames/7.tbf",
                                         "frames/x.tbf",     "checkpoints/a.tbc", ".hidden",
                                         "frames/00000.tbf", ".notes.tribo-tmp"};
  for (const std::string& name : mine) write_bytes(dir / name, "mine");
  write_bytes(dir / "frames/.000009.tbf.1.2.tribo-tmp", "part");
  write_bytes(dir / ".scene.json.1.2.tribo-tmp", "part");

  const RunDirectory run(dir.path(), Mode::overwrite);
  for (const std::string& name : mine) EXPECT_EQ(read_bytes(dir / name), "mine") << name;
  EXPECT_EQ(listing(dir.path()),
            (std::vector<std::string>{".hidden", ".lock", ".notes.tribo-tmp", "checkpoints", "frames", "notes.md"}));
  EXPECT_EQ(listing(dir / "frames"), (std::vector<std::string>{"00000.tbf", "000000.png", "7.tbf", "x.tbf"}));
  EXPECT_EQ(listing(dir / "checkpoints"), std::vector<std::string>{"a.tbc"});
}

TEST(RunDirectory, overwrite_creates_where_nothing_is) {
  const Scratch dir;
  const RunDirectory run(dir / "new", Mode::overwrite);
  EXPECT_TRUE(run.frames().empty());
}

TEST(RunDirectory, says_what_is_in_the_way) {
  const Scratch dir;
  write_bytes(dir / "file", "x");
  for (const Mode mode : {Mode::create, Mode::overwrite}) {
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir / "file", mode); }), "a file stands where a directory"));
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir / "file/run", mode); }), "Not a directory"));
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory("", mode); }), "empty"));
  }
  for (const Mode mode : {Mode::resume, Mode::read}) {
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir / "file", mode); }), "is a file"));
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir / "none", mode); }), "does not exist"));
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir.path(), mode); }), "no scene.json"));
  }
  std::filesystem::create_directory(dir / "run");
  write_bytes(dir / "run/frames", "x");
  EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir / "run", Mode::create); }), "frames is a file"));
  std::filesystem::create_symlink(dir / "nowhere", dir / "dangling");
  io_error_of([&] { RunDirectory(dir / "dangling", Mode::create); });
}

TEST(RunDirectory, says_that_it_has_no_permission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const Scratch dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  for (const std::string& path : {dir.path(), dir / "new"}) {
    EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(path, Mode::create); }), "permission"));
  }
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
}

TEST(RunDirectory, says_which_frames_there_are) {
  const Scratch dir;
  make_run(dir.path(), 2);
  const RunDirectory run(dir.path(), Mode::read);
  EXPECT_TRUE(contains(io_error_of([&] { run.read_frame(3); }), "no frame 3: choose one from 0 to 2"));
  std::filesystem::rename(dir / "frames/000001.tbf", dir / "frames/000003.tbf");
  EXPECT_TRUE(contains(io_error_of([&] { run.read_frame(3); }), "holds frame 1"));
}

TEST(RunDirectory, keeps_the_newest_checkpoints) {
  const Scratch dir;
  RunDirectory run(dir.path(), Mode::create);
  for (const int frame : {1, 2, 3, 4}) run.write_checkpoint(some_checkpoint(frame), 1000 * frame, 2);
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{3000, 4000}));
  run.write_checkpoint(some_checkpoint(5), 1234567890123456, 1);
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{1234567890123456}));
  EXPECT_THROW(run.write_checkpoint({"checkpoint", "{}", {}}, 1, 1), Error);
}

TEST(RunDirectory, falls_back_to_an_older_checkpoint) {
  const Scratch dir;
  make_run(dir.path(), 3);
  const RunDirectory run(dir.path(), Mode::read);
  EXPECT_EQ(run.read_checkpoint().frame, 3);
  EXPECT_EQ(run.read_checkpoint(1).step, 10);
  EXPECT_TRUE(run.read_checkpoint(1).warnings.empty());

  spoil(run.checkpoint_path(30));
  write_bytes(run.checkpoint_path(20), "");
  const RunDirectory::Loaded loaded = run.read_checkpoint();
  EXPECT_TRUE(equal(loaded.checkpoint, some_checkpoint(1, 20)));
  EXPECT_EQ(loaded.path, run.checkpoint_path(10));
  ASSERT_EQ(loaded.warnings.size(), 2u);
  EXPECT_TRUE(contains(loaded.warnings[0], run.checkpoint_path(30)));

  spoil(run.checkpoint_path(10));
  std::filesystem::remove(run.checkpoint_path(0));
  const std::string message = io_error_of([&] { run.read_checkpoint(); });
  for (const std::int64_t step : {10, 20, 30}) EXPECT_TRUE(contains(message, run.checkpoint_path(step)));
  EXPECT_TRUE(contains(message, "--overwrite"));
}

TEST(RunDirectory, names_the_frames_when_none_is_early_enough) {
  const Scratch dir;
  make_run(dir.path(), 3);
  const RunDirectory run(dir.path(), Mode::read);
  std::filesystem::remove(run.checkpoint_path(0));
  std::filesystem::remove(run.checkpoint_path(10));
  EXPECT_TRUE(contains(io_error_of([&] { run.read_checkpoint(1); }), "is of frame 2, after the one asked for"));
}

TEST(RunDirectory, resumes_a_run_killed_at_any_moment) {
  const Scratch dir;
  make_run(dir.path(), 4);
  // Killed while writing frame 6: frame 5 is there without statistics or checkpoint, and parts lie around.
  {
    RunDirectory run(dir.path(), Mode::resume);
    run.write_frame(some_frame(5, 20));
  }
  spoil(dir / "checkpoints/step_000000000040.tbc");
  write_bytes(dir / "frames/.000006.tbf.77.0.tribo-tmp", "part");
  write_bytes(dir / "checkpoints/.step_000000000050.tbc.77.1.tribo-tmp", "part");
  write_bytes(dir / "stats.jsonl", read_bytes(dir / "stats.jsonl") + "{\"frame\":5,\"ma");
  EXPECT_EQ(RunDirectory(dir.path(), Mode::read).read_stats().size(), 5u);

  RunDirectory run(dir.path(), Mode::resume);
  const RunDirectory::Loaded loaded = run.read_checkpoint();
  EXPECT_EQ(loaded.frame, 3);
  run.truncate_after(loaded.frame, loaded.step);
  EXPECT_EQ(run.frames(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(run.checkpoints(), (std::vector<std::int64_t>{0, 10, 20, 30}));
  run.append_stats(stats_line(4));
  EXPECT_EQ(run.read_stats().size(), 5u);
  EXPECT_EQ(run.read_stats().back(), stats_line(4));
  EXPECT_EQ(listing(dir / "frames").size(), 4u);
  EXPECT_EQ(listing(dir / "checkpoints").size(), 4u);
}

/// Continues the run at `path` for ever: what the simulator does, without the simulation.
[[noreturn]] void run_on(const std::string& path) {
  RunDirectory run(path, Mode::resume);
  const RunDirectory::Loaded loaded = run.read_checkpoint();
  run.truncate_after(loaded.frame, loaded.step);
  for (int frame = loaded.frame + 1;; ++frame) {
    run.write_frame(some_frame(frame, 2000));
    run.append_stats(stats_line(frame));
    run.write_checkpoint(some_checkpoint(frame, 2000), 10 * frame, 2);
    run.log("frame " + std::to_string(frame));
  }
}

// The moments differ from test to test; what must hold afterward does not.
TEST(RunDirectory, resumes_after_real_kills) {
  const Scratch dir;
  make_run(dir.path(), 0);
  for (unsigned round = 0; round < 15; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        run_on(dir.path());
      } catch (...) {
        ::_exit(1);
      }
    }
    ::usleep(5000 + 1700 * round);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the run failed by itself";

    RunDirectory run(dir.path(), Mode::resume);
    const RunDirectory::Loaded loaded = run.read_checkpoint();
    EXPECT_TRUE(loaded.warnings.empty());
    run.truncate_after(loaded.frame, loaded.step);
    ASSERT_EQ(run.frames().size(), static_cast<std::size_t>(loaded.frame) + 1);
    ASSERT_EQ(run.read_stats().size(), static_cast<std::size_t>(loaded.frame) + 1);
    for (const int frame : run.frames()) {
      EXPECT_TRUE(equal(run.read_frame(frame), some_frame(frame, frame == 0 ? 20 : 2000)));
      EXPECT_EQ(run.read_stats()[static_cast<std::size_t>(frame)], stats_line(frame));
    }
    EXPECT_EQ(listing(dir / "frames").size(), run.frames().size());
  }
}

TEST(RunDirectory, an_unfinished_line_does_not_swallow_the_next) {
  const Scratch dir;
  make_run(dir.path(), 0);
  write_bytes(dir / "stats.jsonl", "{\"frame\":0");
  RunDirectory run(dir.path(), Mode::resume);
  run.append_stats(stats_line(0));
  EXPECT_EQ(run.read_stats(), std::vector<std::string>{stats_line(0)});
  EXPECT_THROW(run.append_stats("{\n}"), Error);
}

TEST(RunDirectory, drops_unreadable_statistics_and_says_so) {
  const Scratch dir;
  make_run(dir.path(), 1);
  write_bytes(dir / "stats.jsonl", stats_line(0) + "\n" + std::string(50, '\0') + "\n" + stats_line(1) + "\n");
  RunDirectory run(dir.path(), Mode::resume);
  EXPECT_EQ(run.truncate_after(1, 10), 1);
  EXPECT_EQ(run.read_stats(), (std::vector<std::string>{stats_line(0), stats_line(1)}));
}

TEST(RunDirectory, has_one_writer_at_a_time) {
  const Scratch dir;
  {
    RunDirectory first(dir.path(), Mode::create);
    first.write_scene("{}");
    for (const Mode mode : {Mode::resume, Mode::overwrite}) {
      EXPECT_TRUE(contains(io_error_of([&] { RunDirectory(dir.path(), mode); }),
                           "another tribo process is writing to this directory"));
    }
    RunDirectory(dir.path(), Mode::read);
    RunDirectory moved = std::move(first);
    EXPECT_THROW(RunDirectory(dir.path(), Mode::resume), IoError);
  }
  RunDirectory(dir.path(), Mode::resume);
}

TEST(RunDirectory, a_killed_writer_leaves_no_lock) {
  const Scratch dir;
  make_run(dir.path(), 0);
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const RunDirectory run(dir.path(), Mode::resume);
    const ssize_t written = ::write(ready[1], "x", 1);
    for (;;) ::pause();
    ::_exit(static_cast<int>(written));
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THROW(RunDirectory(dir.path(), Mode::resume), IoError);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  RunDirectory(dir.path(), Mode::resume);
}

TEST(IoError, has_a_remedy_for_reading_and_another_for_writing) {
  const auto said = [](const char* action, int error) { return std::string(io_error(action, "a", error).what()); };
  EXPECT_EQ(said("read", EACCES), "cannot read a: Permission denied (no permission: change the permissions)");
  EXPECT_EQ(said("read", EISDIR), "cannot read a: Is a directory (check the path)");
  EXPECT_TRUE(contains(said("write", EACCES), "choose another directory with -o"));
}

TEST(RunDirectory, says_that_the_disk_is_full) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Scratch dir;
  RunDirectory run(dir.path(), Mode::create);
  std::filesystem::create_symlink("/dev/full", dir / "stats.jsonl");
  EXPECT_TRUE(contains(io_error_of([&] { run.append_stats("{}"); }),
                       "disk full: free space or choose another directory with -o"));
}

}  // namespace
}  // namespace tribo
