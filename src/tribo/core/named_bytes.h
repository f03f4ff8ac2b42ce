#pragma once

#include <string>

namespace tribo {

/// A file by its name, and what it holds.
struct NamedBytes {
  std::string file, bytes;
};

}  // namespace tribo
