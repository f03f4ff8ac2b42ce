#pragma once

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tribo/engine/engine.h"
#include "tribo/exec/columns.h"
#include "tribo/grid/blocks.h"

/// \file
/// All that evolves of a kind of matter, item by item in a fixed order: the one list from which its hash, what is saved
/// and loaded, and the memory it takes follow.

namespace tribo::TRIBO_BACKEND {

/// What bins must be to be those of a kind's particles.
struct BinRules {
  Index items;       ///< particles that they have to cover
  Index groups;      ///< materials
  const char* what;  ///< in words, for whoever has another scene's checkpoint
};

class StateList {
 public:
  StateList() = default;
  StateList(const StateList&) = delete;
  StateList& operator=(const StateList&) = delete;
  virtual ~StateList() = default;

  /// Numbers that the host keeps.
  virtual void numbers(const char* name, std::span<double> values) = 0;
  void number(const char* name, double& value) { numbers(name, {&value, 1}); }
  /// One that follows from all others and need not be saved; a difference shall show all the same.
  virtual void derived(double value) = 0;
  /// How many items the columns that follow have: in a checkpoint as many as `column` has there.
  virtual void items(const char* column, Index& count) = 0;
  /// Bins of sorted particles; none where these are yet to be sorted.
  template <int D>
  void bins(const char* name, Array<Bin<D>>& array, Index& count, const BinRules& rules) {
    static_assert(sizeof(Bin<D>) == (3 + D) * sizeof(Index));
    if constexpr (D == 2)
      planar_bins(name, array, count, rules);
    else
      spatial_bins(name, array, count, rules);
  }
  /// A column in use, as arrays NAME.0, NAME.1, ...
  template <class T, int N>
  void column(const char* name, Field<T, N>& field, Index count) {
    if (!field.used) return;
    for (int k = 0; k < N; ++k) array(name + ("." + std::to_string(k)), field.c[k], count);
  }
  /// All that an object lists in `columns()`.
  template <class Owner>
  void columns(Owner& owner, Index count) {
    each_column(owner, [&](const char* name, auto& field) { column(name, field, count); });
  }

 protected:
  virtual void array(const std::string& name, Array<float>& data, Index count) = 0;
  virtual void array(const std::string& name, Array<double>& data, Index count) = 0;
  virtual void array(const std::string& name, Array<Index>& data, Index count) = 0;
  virtual void planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules& rules) = 0;
  virtual void spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules& rules) = 0;
};

/// Equal hashes mean equal states.
class StateHash final : public StateList {
 public:
  explicit StateHash(Exec& ex) : ex_(ex) {}
  std::uint64_t value() const { return hash_; }

  void numbers(const char* name, std::span<double> values) override;
  void derived(double value) override { numbers("", {&value, 1}); }
  void items(const char*, Index&) override {}

 private:
  void array(const std::string& name, Array<float>& data, Index count) override;
  void array(const std::string& name, Array<double>& data, Index count) override;
  void array(const std::string& name, Array<Index>& data, Index count) override;
  void planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules& rules) override;
  void spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules& rules) override;

  Exec& ex_;
  std::uint64_t hash_ = 0;
};

/// Host copies, one after the other.
class StateSaver final : public StateList {
 public:
  StateSaver(Exec& ex, const Engine::ArrayVisitor& visit) : ex_(ex), visit_(visit) {}

  void numbers(const char* name, std::span<double> values) override;
  void derived(double) override {}
  void items(const char*, Index&) override {}

 private:
  template <class T>
  void show(const std::string& name, const Array<T>& data, Index count);
  void array(const std::string& name, Array<float>& data, Index count) override { show(name, data, count); }
  void array(const std::string& name, Array<double>& data, Index count) override { show(name, data, count); }
  void array(const std::string& name, Array<Index>& data, Index count) override { show(name, data, count); }
  void planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules& rules) override;
  void spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules& rules) override;

  Exec& ex_;
  const Engine::ArrayVisitor& visit_;
  std::vector<std::byte> host_;
};

/// Takes a checkpoint back, in two passes over the same lists: the first only looks whether all fits and throws an
/// IoError where it does not, with nothing changed.
class StateLoader final : public StateList {
 public:
  StateLoader(Exec& ex, const Container& checkpoint) : ex_(ex), checkpoint_(checkpoint) {}
  /// Numbers of items are as they were, unless the second pass has begun.
  ~StateLoader() override;
  /// What follows is the second pass.
  void take();

  /// An array of the checkpoint, or an error that says what is wrong with it; any length where `count` is negative.
  template <class T>
  std::span<const T> expect(const std::string& name, std::int64_t count) const;

  void numbers(const char* name, std::span<double> values) override;
  void derived(double) override {}
  void items(const char* column, Index& count) override;

 private:
  template <class T>
  void load(const std::string& name, Array<T>& data, Index count);
  template <int D>
  void load_bins(const char* name, Array<Bin<D>>& data, Index& count, const BinRules& rules);
  void array(const std::string& name, Array<float>& data, Index count) override { load(name, data, count); }
  void array(const std::string& name, Array<double>& data, Index count) override { load(name, data, count); }
  void array(const std::string& name, Array<Index>& data, Index count) override { load(name, data, count); }
  void planar_bins(const char* name, Array<Bin<2>>& data, Index& count, const BinRules& rules) override;
  void spatial_bins(const char* name, Array<Bin<3>>& data, Index& count, const BinRules& rules) override;

  Exec& ex_;
  const Container& checkpoint_;
  bool taking_ = false;
  struct Before {
    Index* count;
    Index value;
  };
  std::vector<Before> before_;  ///< of `items` in the first pass
};

/// Memory of what is listed.
class StateBytes final : public StateList {
 public:
  std::size_t value() const { return bytes_; }

  void numbers(const char*, std::span<double>) override {}
  void derived(double) override {}
  void items(const char*, Index&) override {}

 private:
  void array(const std::string&, Array<float>& data, Index) override { bytes_ += data.bytes(); }
  void array(const std::string&, Array<double>& data, Index) override { bytes_ += data.bytes(); }
  void array(const std::string&, Array<Index>& data, Index) override { bytes_ += data.bytes(); }
  void planar_bins(const char*, Array<Bin<2>>& data, Index&, const BinRules&) override { bytes_ += data.bytes(); }
  void spatial_bins(const char*, Array<Bin<3>>& data, Index&, const BinRules&) override { bytes_ += data.bytes(); }

  std::size_t bytes_ = 0;
};

}  // namespace tribo::TRIBO_BACKEND
