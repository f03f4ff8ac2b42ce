#pragma once

#include <string>

namespace tribo {

/// Whether the file's name ends in .svg or .png, in whatever case: what write_plot can write.
bool is_plot_name(const std::string& path);

/// Writes a page of SVG to `path`, as it is or, when the name ends in .png, turned into an image by rsvg-convert or
/// ffmpeg. The file appears whole or not at all. Without such a program the page is kept as SVG beside and DeviceError
/// says what to install; IoError when the file cannot be written.
void write_plot(const std::string& path, const std::string& svg);

}  // namespace tribo
