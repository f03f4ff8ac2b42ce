#include "tribo/run/exporter.h"

#include <fmt/format.h>

#include "tribo/core/errors.h"
#include "tribo/io/run_directory.h"
#include "tribo/io/writer.h"
#include "tribo/run/frame_selection.h"
#include "tribo/scene/suggest.h"
#include "tribo/setup/appearance.h"

namespace tribo {
namespace {

const WriterEntry& writer_named(const std::string& format) {
  std::vector<std::string> names;
  for (const WriterEntry& entry : all_writers()) {
    if (entry.unavailable == nullptr) names.emplace_back(entry.name);
    if (entry.name != format) continue;
    if (entry.unavailable == nullptr) return entry;
    throw Error(ExitCode::bad_input, fmt::format("cannot write \"{}\": {}", format, entry.unavailable));
  }
  std::string hint = did_you_mean(format, names);
  if (hint.empty()) hint = "; there are " + quoted_list(names);
  throw Error(ExitCode::bad_input, fmt::format("no format is called \"{}\"{}", format, hint));
}

void write_frames(const RunDirectory& run, const Scene& scene, const std::vector<int>& frames,
                  const ExportOptions& options, FrameWriter& writer, ExportResult& result) {
  for (const int number : frames) {
    if (options.stop != nullptr && options.stop->load()) {
      result.finished = false;
      return;
    }
    Frame frame = run.read_frame(number);
    add_colliders(scene, frame);
    writer.write(frame);
    ++result.frames;
    if (options.on_frame) options.on_frame(result.frames, static_cast<int>(frames.size()));
  }
}

}  // namespace

ExportResult export_run(const std::string& directory, const ExportOptions& options) {
  const WriterEntry& entry = writer_named(options.format);
  const RunDirectory run(directory, RunDirectory::Mode::read);
  const Scene scene = parse_scene(run.read_scene(), run.scene_path(), options.overrides);
  const std::vector<int> frames = select_frames(run, options.frames);
  ExportResult result;
  result.output = options.output.empty() ? directory + "/" + entry.name : options.output;
  const auto writer = entry.open(result.output, run_info(scene));
  if (options.frames.empty()) writer->remove_after(frames.back());  // of a longer run that was here before
  if (frames.back() - frames.front() + 1 != static_cast<int>(frames.size()) && options.on_note)
    options.on_note(fmt::format("frames are missing between {} and {}, and in what is exported, too", frames.front(),
                                frames.back()));
  try {
    write_frames(run, scene, frames, options, *writer, result);
  } catch (const Error&) {
    try {
      writer->finish();  // what was written before is to be of use
    } catch (const IoError&) {
    }
    throw;
  }
  writer->finish();
  return result;
}

}  // namespace tribo
