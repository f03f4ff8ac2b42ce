#include "tribo/core/errors.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/io/writers/vdb.h"

namespace tribo {
namespace {

/// Stands for the writer of OpenVDB points in a build without OpenVDB: files of an earlier run still go away.
class MissingVdbWriter : public FrameWriter {
 public:
  MissingVdbWriter(const std::string& directory, const std::string& name) : files_(directory, name, ".vdb") {}

  void write(const Frame&) override { throw IoError("cannot write .vdb files: this build of tribo has no OpenVDB"); }
  void remove_after(int frame) override { files_.remove_after(frame); }

 private:
  FileSequence files_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_vdb_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<MissingVdbWriter>(directory, info.name);
}

}  // namespace tribo
