#include "tribo/io/writers/file_sequence.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch.h"
#include "tribo/io/file.h"

/// \file
/// Promise: a sequence knows its own files and no others, whatever else lies beside them.

namespace tribo {
namespace {

using Names = std::vector<std::string>;

TEST(FileSequence, NamesFilesByFrame) {
  const Scratch dir;
  const FileSequence files(dir / "a/b", "scene", ".png");
  EXPECT_EQ(files.file_name(12), "scene_000012.png");
  EXPECT_EQ(files.file_name(1234567), "scene_1234567.png");
  EXPECT_EQ(FileSequence(dir.path(), "scene", ".ply", "hair").file_name(0), "scene_hair_000000.ply");
  EXPECT_EQ(FileSequence(dir.path(), "", ".ply").file_name(0), "frame_000000.ply");
  EXPECT_EQ(FileSequence(dir.path(), "../up", ".ply").file_name(0).find('/'), std::string::npos);
  EXPECT_TRUE(listing(dir.path()).empty()) << "naming makes nothing";
  EXPECT_TRUE(files.frames().empty());
  EXPECT_EQ(files.path_to_write(3), dir / "a/b/scene_000003.png");
  EXPECT_TRUE(std::filesystem::is_directory(dir / "a/b"));
}

TEST(FileSequence, FindsItsOwnFilesOnly) {
  const Scratch dir;
  const FileSequence files(dir.path(), "scene", ".png");
  for (const int frame : {1000000, 2, 10, 0, 9}) write_bytes(files.path_to_write(frame), "x");
  for (const char* other : {"scene_000003.ply", "scene_3.png", "scene_0000004.png", "scene_000005.png.bak",
                            "scene_hair_000006.png", "other_000007.png", "scene_.png", "scene_-00008.png", "scene.png",
                            "scene_00001x.png", "scene_99999999999999999999.png", "xscene_000011.png"})
    write_bytes(dir / other, "x");
  EXPECT_EQ(files.frames(), (std::vector<int>{0, 2, 9, 10, 1000000}));
  EXPECT_EQ(FileSequence(dir.path(), "scene", ".png", "hair").frames(), (std::vector<int>{6}));
}

TEST(FileSequence, RemovesItsLaterFilesAndWhatIsHalfWritten) {
  const Scratch dir;
  const FileSequence files(dir.path(), "scene", ".png");
  for (const int frame : {0, 1, 2, 3}) write_bytes(files.path_to_write(frame), "x");
  write_bytes(dir / "scene_000003.ply", "x");
  write_bytes(dir / "mine.txt", "x");
  std::filesystem::create_directory(dir / "folder");
  files.remove(0);
  files.remove(0);  // not there any more: nothing to do
  files.remove_after(1);
  EXPECT_EQ(listing(dir.path()), (Names{"folder", "mine.txt", "scene_000001.png", "scene_000003.ply"}));
  files.remove_after(-1);
  EXPECT_EQ(listing(dir.path()), (Names{"folder", "mine.txt", "scene_000003.ply"}));
  FileSequence(dir / "nowhere", "scene", ".png").remove_after(-1);
}

TEST(FileSequence, RemovesTemporariesOfAKilledProcess) {
  const Scratch dir;
  const FileSequence files(dir.path(), "scene", ".png");
  std::string temporary;
  {
    const AtomicFile unfinished(files.path_to_write(5));
    for (const std::string& name : listing(dir.path())) temporary = name;
  }
  ASSERT_FALSE(temporary.empty());
  write_bytes(dir / temporary, "half");
  EXPECT_TRUE(files.frames().empty());
  files.remove_after(9);
  EXPECT_TRUE(listing(dir.path()).empty());
}

TEST(FileSequence, SaysWhereItCannotWrite) {
  const Scratch dir;
  write_bytes(dir / "file", "x");
  const FileSequence files(dir / "file/sub", "scene", ".png");
  EXPECT_TRUE(contains(io_error_of([&] { files.path_to_write(0); }), dir / "file/sub"));
  EXPECT_TRUE(contains(io_error_of([&] { FileSequence(dir / "file", "scene", ".png").frames(); }), dir / "file"));
}

}  // namespace
}  // namespace tribo
