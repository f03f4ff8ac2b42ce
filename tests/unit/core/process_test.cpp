#include "tribo/core/process.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

/// The environment's PATH, for the lifetime of this.
class PathVariable {
 public:
  explicit PathVariable(const std::string& value) : former_(std::getenv("PATH") ? std::getenv("PATH") : "") {
    ::setenv("PATH", value.c_str(), 1);
  }
  ~PathVariable() { ::setenv("PATH", former_.c_str(), 1); }

 private:
  std::string former_;
};

TEST(Process, FindsProgramsOnThePath) {
  ASSERT_TRUE(find_program("sh"));
  EXPECT_TRUE(find_program("sh")->ends_with("/sh"));
  EXPECT_EQ(find_program(*find_program("sh")), find_program("sh"));
  EXPECT_FALSE(find_program("tribo-no-such-program"));
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("/")) << "a directory is no program";
}

TEST(Process, SkipsWhatCannotBeExecuted) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("process_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "first" / "tool");  // a folder of the name
  std::filesystem::create_directories(folder / "second");
  std::filesystem::create_directories(folder / "third");
  for (const char* name : {"second", "third"}) std::ofstream(folder / name / "tool") << "#!/bin/sh\nexit 3\n";
  std::filesystem::permissions(folder / "third" / "tool", std::filesystem::perms::owner_all);
  const auto path = [&](const char* name) { return (folder / name).string(); };
  {
    const PathVariable variable("/none:" + path("first") + ":" + path("second") + ":" + path("third"));
    EXPECT_EQ(find_program("tool"), path("third") + "/tool");
    EXPECT_EQ(run_program({"tool"}).status, 3);
  }
  {
    const PathVariable variable("");  // means the working directory
    EXPECT_FALSE(find_program("sh"));
  }
  std::filesystem::remove_all(folder);
}

TEST(Process, GivesStatusAndOutput) {
  const ProcessResult result = run_program({"sh", "-c", "echo to out; echo to err >&2; echo; exit 7"});
  EXPECT_EQ(result.status, 7);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.output, "to out\nto err\n\n");
  EXPECT_EQ(result.last_line(), "to err");
  EXPECT_TRUE(run_program({"true"}).ok());
  EXPECT_EQ(run_program({"true"}).last_line(), "");
  EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
}

TEST(Process, NoShellTouchesTheArguments) {
  const std::string strange = "a  b;$(echo c) 'd' \"e\" * \n\\";
  EXPECT_EQ(run_program({"printf", "%s", strange, ""}).output, strange);
}

TEST(Process, KeepsTheEndOfMuchOutput) {
  const ProcessResult result =
      run_program({"sh", "-c", "i=0; while [ $i -lt 30000 ]; do echo line $i; i=$((i+1)); done"});
  EXPECT_TRUE(result.ok());
  EXPECT_LE(result.output.size(), std::size_t{1} << 16);
  EXPECT_GE(result.output.size(), std::size_t{1} << 15);
  EXPECT_EQ(result.last_line(), "line 29999");
}

TEST(Process, ChildHasDefaultSignalsAndNoInput) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run_program({"sh", "-c", "kill -PIPE $$; exit 5"}).status, 128 + SIGPIPE);
  EXPECT_EQ(std::signal(SIGCHLD, SIG_DFL), SIG_IGN) << "the caller's handling stays";
  EXPECT_EQ(std::signal(SIGPIPE, SIG_DFL), SIG_IGN);
  EXPECT_EQ(run_program({"cat"}).output, "");
}

TEST(Process, TellsWhatCannotStart) {
  for (const char* name : {"tribo-no-such-program", "/etc", ""}) {
    try {
      run_program({name});
      FAIL() << "started " << name;
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(), "cannot start " + std::string(name) + ": No such file or directory");
    }
  }
  EXPECT_THROW(run_program({}), DeviceError);
}

}  // namespace
}  // namespace tribo
