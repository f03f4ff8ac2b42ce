#include "tribo/engine/state_list.h"

#include <bit>
#include <cstring>

#include "tribo/core/errors.h"
#include "tribo/exec/hash.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Whether bins follow each other, cover what they must and are of materials that there are.
template <int D>
bool fits(const std::vector<Bin<D>>& bins, const BinRules& rules) {
  Index next = 0;
  for (const Bin<D>& bin : bins) {
    if (bin.begin != next || bin.end <= bin.begin || bin.group < 0 || bin.group >= rules.groups) return false;
    next = bin.end;
  }
  return bins.empty() || next == rules.items;  // none: memory ran out before they were sorted
}

template <int D>
std::uint64_t hash_bins(Exec& ex, const Array<Bin<D>>& data, Index count, std::uint64_t hash) {
  return hash_items(ex, reinterpret_cast<const Index*>(data.data()), count * (3 + D), hash);
}

template <int D>
void show_bins(Exec& ex, const char* name, const Array<Bin<D>>& data, Index count, const Engine::ArrayVisitor& visit) {
  std::vector<Bin<D>> bins(static_cast<std::size_t>(count));
  copy_to_host(ex, data, bins.data(), count);
  visit(name, DType::i32, static_cast<std::int64_t>(count) * (3 + D), bins.data());
}

}  // namespace

void StateHash::numbers(const char*, std::span<double> values) {
  for (const double value : values) hash_ = mixed(hash_ + 1 + mixed(std::bit_cast<std::uint64_t>(value)));
}
void StateHash::array(const std::string&, Array<float>& data, Index count) {
  hash_ = hash_items(ex_, data.data(), count, hash_);
}
void StateHash::array(const std::string&, Array<double>& data, Index count) {
  hash_ = hash_items(ex_, data.data(), count, hash_);
}
void StateHash::array(const std::string&, Array<Index>& data, Index count) {
  hash_ = hash_items(ex_, data.data(), count, hash_);
}
void StateHash::planar_bins(const char*, Array<Bin<2>>& data, Index& count, const BinRules&) {
  hash_ = hash_bins(ex_, data, count, hash_);
}
void StateHash::spatial_bins(const char*, Array<Bin<3>>& data, Index& count, const BinRules&) {
  hash_ = hash_bins(ex_, data, count, hash_);
}

void StateSaver::numbers(const char* name, std::span<double> values) {
  visit_(name, DType::f64, static_cast<std::int64_t>(values.size()), values.data());
}
template <class T>
void StateSaver::show(const std::string& name, const Array<T>& data, Index count) {
  host_.resize(static_cast<std::size_t>(count) * sizeof(T));
  copy_to_host(ex_, data, reinterpret_cast<T*>(host_.data()), count);
  visit_(name.c_str(), dtype_of<T>(), count, host_.data());
}
void StateSaver::planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules&) {
  show_bins(ex_, name, data, count, visit_);
}
void StateSaver::spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules&) {
  show_bins(ex_, name, data, count, visit_);
}

StateLoader::~StateLoader() {
  if (taking_) return;
  for (const Before& one : before_) *one.count = one.value;
}

void StateLoader::take() { taking_ = true; }

template <class T>
std::span<const T> StateLoader::expect(const std::string& name, std::int64_t count) const {
  const NamedArray* array = checkpoint_.find(name);
  if (array == nullptr) throw IoError("checkpoint has no array '" + name + "'; it was written by another version");
  if (array->type != dtype_of<T>())
    throw IoError("checkpoint array '" + name + "' has another precision; resume with the precision of the run");
  if (count >= 0 && array->count != static_cast<std::uint64_t>(count))
    throw IoError("checkpoint array '" + name + "' has " + std::to_string(array->count) + " entries, expected " +
                  std::to_string(count));
  return array->as<T>();
}
template std::span<const Index> StateLoader::expect<Index>(const std::string&, std::int64_t) const;
template std::span<const std::int64_t> StateLoader::expect<std::int64_t>(const std::string&, std::int64_t) const;

void StateLoader::numbers(const char* name, std::span<double> values) {
  const std::span<const double> from = expect<double>(name, static_cast<std::int64_t>(values.size()));
  if (taking_) std::copy(from.begin(), from.end(), values.begin());
}

void StateLoader::items(const char* column, Index& count) {
  const NamedArray* const first = checkpoint_.find(std::string(column) + ".0");
  if (first == nullptr)
    throw IoError("checkpoint has no array '" + std::string(column) + ".0'; it was written by another version");
  if (!taking_) before_.push_back({&count, count});
  count = static_cast<Index>(first->count);
}

template <class T>
void StateLoader::load(const std::string& name, Array<T>& data, Index count) {
  const std::span<const T> from = expect<T>(name, count);
  if (taking_) copy_to_device(ex_, from.data(), data, count);
}

template <int D>
void StateLoader::load_bins(const char* name, Array<Bin<D>>& data, Index& count, const BinRules& rules) {
  const std::span<const Index> from = expect<Index>(name, -1);
  std::vector<Bin<D>> bins(from.size() / (3 + D));
  if (!bins.empty()) std::memcpy(bins.data(), from.data(), bins.size() * sizeof(Bin<D>));
  if (!fits(bins, rules)) throw IoError(std::string("checkpoint's ") + rules.what + "; it belongs to another scene");
  if (!taking_) return;
  count = static_cast<Index>(bins.size());
  copy_to_device(ex_, bins.data(), data, count);
}
void StateLoader::planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules& rules) {
  load_bins(name, data, count, rules);
}
void StateLoader::spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules& rules) {
  load_bins(name, data, count, rules);
}

}  // namespace tribo::TRIBO_BACKEND
