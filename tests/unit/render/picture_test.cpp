#include "tribo/render/picture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../io/scratch.h"
#include "tribo/render/tracer.h"

#ifdef TRIBO_TEST_PNG
#include <png.h>

#include <cstdio>
#include <map>
#include <memory>

/// \file
/// Promise: a picture file holds the very pixels, in a form other programs read, and is whole or not there.

namespace tribo {
namespace {

struct Decoded {
  Picture picture;
  std::map<std::string, std::string> texts;
  bool srgb = false;
};

/// As any other program reads it. `good` is false when libpng finds a fault.
Decoded decode(const std::string& path, bool& good) {
  Decoded result;
  good = false;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return result;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) == 0) {
    png_init_io(png, file.get());
    png_read_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
    EXPECT_EQ(png_get_bit_depth(png, info), 8);
    EXPECT_EQ(png_get_color_type(png, info), PNG_COLOR_TYPE_RGB);
    result.picture.width = static_cast<int>(png_get_image_width(png, info));
    result.picture.height = static_cast<int>(png_get_image_height(png, info));
    png_bytepp rows = png_get_rows(png, info);
    for (int y = 0; y < result.picture.height; ++y)
      result.picture.rgb.insert(result.picture.rgb.end(), rows[y], rows[y] + 3 * result.picture.width);
    png_textp texts = nullptr;
    const int count = png_get_text(png, info, &texts, nullptr);
    for (int i = 0; i < count; ++i) result.texts[texts[i].key] = texts[i].text;
    result.srgb = png_get_valid(png, info, PNG_INFO_sRGB) != 0;
    good = true;
  }
  png_destroy_read_struct(&png, &info, nullptr);
  return result;
}

Picture some_picture(int width, int height) {
  Picture picture{width, height, {}};
  for (int i = 0; i < 3 * width * height; ++i)
    picture.rgb.push_back(static_cast<std::uint8_t>((static_cast<unsigned>(i) * 2654435761U) >> 24));
  return picture;
}

TEST(Png, HoldsThePixelsAndTheTexts) {
  const Scratch dir;
  for (const auto& [width, height] : {std::pair{1, 1}, {16, 9}, {37, 23}}) {
    const Picture picture = some_picture(width, height);
    write_png(dir / "a.png", picture, {{"Title", "σ \"sand\"\n"}, {"Software", "tribo"}, {"Description", ""}});
    bool good = false;
    const Decoded read = decode(dir / "a.png", good);
    ASSERT_TRUE(good);
    EXPECT_EQ(read.picture.width, width);
    EXPECT_EQ(read.picture.height, height);
    EXPECT_EQ(read.picture.rgb, picture.rgb);
    EXPECT_TRUE(read.srgb);
    EXPECT_EQ(read.texts.at("Title"), "σ \"sand\"\n");
    EXPECT_EQ(read.texts.at("Software"), "tribo");
    EXPECT_EQ(read.texts.at("Description"), "");
  }
  EXPECT_EQ(listing(dir.path()), (std::vector<std::string>{"a.png"}));
}

TEST(Png, SameBytesForTheSamePicture) {
  const Scratch dir;
  write_png(dir / "a.png", some_picture(20, 20));
  write_png(dir / "b.png", some_picture(20, 20));
  EXPECT_EQ(read_bytes(dir / "a.png"), read_bytes(dir / "b.png"));
}

TEST(Png, SaysWhereItCannotBeWritten) {
  const Scratch dir;
  write_bytes(dir / "file", "x");
  EXPECT_TRUE(contains(io_error_of([&] { write_png(dir / "file/a.png", some_picture(2, 2)); }), dir / "file/a.png"));
  EXPECT_TRUE(contains(io_error_of([&] { write_png(dir / "no/a.png", some_picture(2, 2)); }), dir / "no/a.png"));
  std::filesystem::create_directory(dir / "taken.png");
  EXPECT_TRUE(contains(io_error_of([&] { write_png(dir / "taken.png", some_picture(2, 2)); }), dir / "taken.png"));
  EXPECT_EQ(listing(dir.path()), (std::vector<std::string>{"file", "taken.png"}));
}

}  // namespace
}  // namespace tribo
#endif
