#include "tribo/render/picture.h"

#include <png.h>

#include <csetjmp>
#include <cstddef>
#include <span>

#include "tribo/core/errors.h"
#include "tribo/io/file.h"

namespace tribo {
namespace {

/// Collects what libpng produces. The file is written afterwards, because libpng leaves by longjmp, over which no
/// exception may travel and no destructor runs.
void collect(png_structp png, png_bytep data, png_size_t size) {
  auto* const bytes = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), begin, begin + size);
}
void flush_nothing(png_structp /*png*/) {}

/// False when libpng gave up. Only plain data lives in this frame.
bool encode(png_structp png, png_infop info, const Picture& picture, png_textp texts, int text_count,
            std::vector<std::byte>& bytes) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &bytes, collect, flush_nothing);
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height), 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  if (text_count > 0) png_set_text(png, info, texts, text_count);
  png_write_info(png, info);
  for (int y = 0; y < picture.height; ++y)
    png_write_row(png, picture.rgb.data() + static_cast<std::size_t>(y) * 3 * static_cast<std::size_t>(picture.width));
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

void write_png(const std::string& path, const Picture& picture,
               const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::byte> bytes;
  std::vector<png_text> entries(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    entries[i].compression = PNG_ITXT_COMPRESSION_NONE;
    entries[i].key = const_cast<char*>(texts[i].first.c_str());    // libpng does not change it
    entries[i].text = const_cast<char*>(texts[i].second.c_str());  // nor this
  }
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  const bool good =
      info != nullptr && encode(png, info, picture, entries.data(), static_cast<int>(entries.size()), bytes);
  png_destroy_write_struct(&png, &info);
  if (!good) throw IoError("cannot encode " + path + " as PNG");
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace tribo
