#include "tribo/io/container.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>

#include "scratch.h"

namespace tribo {
namespace {

constexpr std::size_t chunk = std::size_t{4} << 20;

template <class T>
std::vector<T> noise(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

Container round_trip(const Container& container) {
  const Scratch dir;
  write_container(dir / "a.tbc", container);
  EXPECT_EQ(listing(dir.path()), std::vector<std::string>{"a.tbc"});
  return read_container(dir / "a.tbc", container.kind);
}

TEST(Container, keeps_every_type_and_every_bit) {
  Container container{"checkpoint", R"({"frame":3,"names":["α","b"],"time":0.1})", {}};
  container.arrays = {
      array_of("f32", 3, noise<float>(999)),
      array_of("f64", 9, noise<double>(9 * 77)),
      array_of("i32", 1, noise<std::int32_t>(1001)),
      array_of("i64", 2, noise<std::int64_t>(64)),
      array_of("u32", 4, noise<std::uint32_t>(4)),
      array_of("u64", 1, noise<std::uint64_t>(1)),
      array_of("u8", 1, noise<std::uint8_t>(1023)),
      array_of<float>("special", 1, {-0.f, std::numeric_limits<float>::quiet_NaN(), 1e-45f, -HUGE_VALF}),
  };
  EXPECT_TRUE(equal(round_trip(container), container));
}

TEST(Container, keeps_emptiness) {
  EXPECT_TRUE(equal(round_trip({"frame", "{}", {}}), {"frame", "{}", {}}));
  Container container{"frame", "{}", {array_of<float>("x", 3, {}), array_of<double>("y", 1, {})}};
  container.arrays.push_back(array_of<float>("", 1, {1}));
  const Container back = round_trip(container);
  EXPECT_TRUE(equal(back, container));
  EXPECT_EQ(back.find("x")->components, 3u);
  EXPECT_EQ(back.find("none"), nullptr);
}

TEST(Container, keeps_arrays_of_several_chunks) {
  for (const std::size_t bytes : {chunk - 4, chunk, chunk + 4, 3 * chunk + 12344}) {
    Container container{"frame", "{}", {array_of("noise", 1, noise<float>(bytes / 4))}};
    container.arrays.push_back(array_of("odd", 1, noise<std::uint8_t>(bytes + 1)));
    container.arrays.push_back(array_of("zero", 1, std::vector<double>(bytes / 8 + 1)));
    EXPECT_TRUE(equal(round_trip(container), container)) << bytes;
  }
}

TEST(Container, accepts_the_smallest_possible_compression) {
  const Container container{"frame", "{}", {array_of("zero", 1, std::vector<std::uint8_t>(16 * chunk))}};
  EXPECT_TRUE(equal(round_trip(container), container));
}

TEST(Container, compresses_smooth_floats) {
  const Scratch dir;
  std::vector<float> x(300000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.f + 1e-5f * static_cast<float>(i);
  write_container(dir / "a", {"frame", "{}", {array_of("x", 3, x)}});
  EXPECT_LT(std::filesystem::file_size(dir / "a"), x.size() * 4 * 6 / 10);
}

TEST(Container, gives_the_same_bytes_for_the_same_content) {
  const Scratch dir;
  write_container(dir / "a", some_checkpoint(1));
  write_container(dir / "b", some_checkpoint(1));
  EXPECT_EQ(read_bytes(dir / "a"), read_bytes(dir / "b"));
}

TEST(Container, refuses_to_write_nonsense) {
  const Scratch dir;
  const auto code_of = [&](const Container& container) {
    try {
      write_container(dir / "a", container);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::done;
  };
  NamedArray array = array_of<float>("x", 1, {1, 2});
  EXPECT_EQ(code_of({"frame", "{}", {array, array}}), ExitCode::internal);
  EXPECT_EQ(code_of({"frame", "[1]", {array}}), ExitCode::internal);
  array.count = 3;
  EXPECT_EQ(code_of({"frame", "{}", {array}}), ExitCode::internal);
  array.components = 0;
  EXPECT_EQ(code_of({"frame", "{}", {array}}), ExitCode::internal);
  array.count = std::uint64_t{1} << 63;
  array.components = 2;
  EXPECT_EQ(code_of({"frame", "{}", {array}}), ExitCode::internal);
  EXPECT_TRUE(listing(dir.path()).empty());
}

TEST(Container, says_what_cannot_be_read) {
  const Scratch dir;
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir / "none", "frame"); }), "No such file"));
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir.path(), "frame"); }), "not a regular file"));
  write_bytes(dir / "short", "abc");
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir / "short", "frame"); }), "only 3 bytes"));
  write_bytes(dir / "foreign", std::string(1000, 'x'));
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir / "foreign", "frame"); }), "not a tribo file"));
  write_container(dir / "a", some_checkpoint(1));
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir / "a", "frame"); }), "holds a \"checkpoint\""));
  std::string newer = read_bytes(dir / "a");
  newer[8] = 2;
  write_bytes(dir / "a", newer);
  EXPECT_TRUE(contains(io_error_of([&] { read_container(dir / "a", "checkpoint"); }), "use a newer tribo"));
}

TEST(Container, reads_meta_alone) {
  const Scratch dir;
  write_container(dir / "a", some_checkpoint(7));
  EXPECT_EQ(read_container_meta(dir / "a", "checkpoint"), some_checkpoint(7).meta);
}

/// Lets files of this process grow to `bytes` only: the portable stand-in for a disk that fills up.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit old_limit_{};
  void (*old_handler_)(int);
};

TEST(Container, failure_leaves_the_old_file_and_no_temporary) {
  const Scratch dir;
  const std::string path = dir / "a.tbc";
  const Container old = some_checkpoint(1, 10);
  write_container(path, old);
  const Container larger{"checkpoint", R"({"frame":2})", {array_of("noise", 1, noise<float>(1 << 18))}};
  for (const rlim_t limit : {0, 30, 100, 5000, 1 << 20}) {
    std::string message;
    {
      const SmallDisk disk(limit);
      message = io_error_of([&] { write_container(path, larger); });
    }
    EXPECT_TRUE(contains(message, path));
    EXPECT_TRUE(contains(message, "-o"));
    EXPECT_EQ(listing(dir.path()), std::vector<std::string>{"a.tbc"});
    EXPECT_TRUE(equal(read_container(path, "checkpoint"), old));
  }
}

TEST(Container, says_where_it_cannot_write) {
  const Scratch dir;
  write_bytes(dir / "file", "x");
  EXPECT_TRUE(contains(io_error_of([&] { write_container(dir / "file/a", some_checkpoint(1)); }), "Not a directory"));
  EXPECT_TRUE(contains(io_error_of([&] { write_container(dir / "none/a", some_checkpoint(1)); }), "No such file"));
  std::filesystem::create_directory(dir / "folder");
  EXPECT_TRUE(contains(io_error_of([&] { write_container(dir / "folder", some_checkpoint(1)); }), "directory"));
  EXPECT_EQ(listing(dir.path()), (std::vector<std::string>{"file", "folder"}));
}

TEST(Container, says_that_it_has_no_permission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  const Scratch dir;
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const std::string message = io_error_of([&] { write_container(dir / "a", some_checkpoint(1)); });
  std::filesystem::permissions(dir.path(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(contains(message, "permission"));
}

// --- damage ----------------------------------------------------------------------------------------------------------

struct Damage {
  std::string what;
  std::string bytes;
};

/// The `index`-th of a fixed sequence of damages, of every sort in turn.
Damage damage(const std::string& good, unsigned index) {
  std::mt19937_64 random(index);
  std::string bytes = good;
  // Half of the damages hit the first 400 bytes, where the sizes are; the data would get nearly all otherwise.
  const std::size_t reach = index / 6 % 2 == 0 ? std::min<std::size_t>(400, bytes.size()) : bytes.size();
  const std::size_t at = random() % reach;
  const std::size_t length = std::min<std::size_t>(1 + random() % 64, bytes.size() - at);
  switch (index % 6) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      return {"bit flip", bytes};
    case 1:
      bytes.resize(at);
      return {"truncation", bytes};
    case 2:
      for (std::size_t i = 0; i < length; ++i) bytes += static_cast<char>(random());
      return {"appended bytes", bytes};
    case 3:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, '\0');
      return {"zeroed range", bytes};
    case 4: {
      const std::size_t other = random() % (bytes.size() - length);
      for (std::size_t i = 0; i < length; ++i) std::swap(bytes[at + i], bytes[other + i]);
      return {"swapped ranges", bytes};
    }
    default:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min<std::size_t>(8, length), '\xff');
      return {"size overwritten", bytes};
  }
}

template <class Content, class Read>
void expect_damage_to_be_seen(const std::string& path, const Content& content, const Read& read) {
  const std::string good = read_bytes(path);
  int refused = 0;
  for (unsigned i = 0; i < 200; ++i) {
    const auto [what, bytes] = damage(good, i);
    write_bytes(path, bytes);
    try {
      EXPECT_TRUE(equal(read(), content)) << what << " number " << i << " gave other data";
    } catch (const IoError& error) {
      EXPECT_TRUE(contains(error.what(), path));
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
  write_bytes(path, good);
  EXPECT_TRUE(equal(read(), content));
}

TEST(Damage, of_a_frame_is_always_seen) {
  const Scratch dir;
  const Frame frame = some_frame(12);
  write_frame(dir / "f.tbf", frame);
  expect_damage_to_be_seen(dir / "f.tbf", frame, [&] { return read_frame(dir / "f.tbf"); });
}

TEST(Damage, of_a_checkpoint_is_always_seen) {
  const Scratch dir;
  const Container checkpoint = some_checkpoint(12);
  write_container(dir / "c.tbc", checkpoint);
  expect_damage_to_be_seen(dir / "c.tbc", checkpoint, [&] { return read_container(dir / "c.tbc", "checkpoint"); });
}

/// Puts the right header checksum on a file, as only a forger or a bug of ours would.
void sign(std::string& bytes) {
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data() + 16, 8);
  if (header_size > bytes.size() - 40) return;
  const std::string covered = bytes.substr(0, 32) + bytes.substr(40, header_size);
  const std::uint64_t checksum = XXH3_64bits(covered.data(), covered.size());
  std::memcpy(bytes.data() + 32, &checksum, 8);
}

// With the checksum right, a header is still not believed: it must not crash us or ask for absurd memory.
TEST(Damage, with_a_matching_checksum_does_no_harm) {
  const Scratch dir;
  write_container(dir / "c.tbc", some_checkpoint(12));
  const std::string good = read_bytes(dir / "c.tbc");
  int refused = 0;
  for (unsigned i = 0; i < 600; ++i) {
    std::string bytes = damage(good, i).bytes;
    if (bytes.size() < 40) continue;
    sign(bytes);
    write_bytes(dir / "c.tbc", bytes);
    try {
      read_container(dir / "c.tbc", "checkpoint");
    } catch (const IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(Damage, cannot_make_an_array_huge) {
  const Scratch dir;
  write_container(dir / "c.tbc", {"frame", "{}", {array_of<float>("x", 1, {1, 2, 3, 4})}});
  const std::string good = read_bytes(dir / "c.tbc");
  // preamble 40, kind 4 + 5, meta 4 + 2, array count 4, name 4 + 1, type 1, components 4; then count and raw size
  const std::size_t count_at = 40 + 9 + 6 + 4 + 5 + 1 + 4;
  for (int bit = 3; bit < 62; ++bit) {
    std::string bytes = good;
    const std::uint64_t count = std::uint64_t{1} << bit;
    const std::uint64_t raw_size = count * 4;
    std::memcpy(bytes.data() + count_at, &count, 8);
    std::memcpy(bytes.data() + count_at + 8, &raw_size, 8);
    sign(bytes);
    write_bytes(dir / "c.tbc", bytes);
    io_error_of([&] { read_container(dir / "c.tbc", "frame"); });
  }
}

}  // namespace
}  // namespace tribo
