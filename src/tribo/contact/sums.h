#pragma once

#include <cstdint>
#include <vector>

#include "tribo/core/contact_impulse.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"

/// \file
/// What contact gives to colliders and objects, summed up from one frame to the next.

namespace tribo::TRIBO_BACKEND {

/// A sum that has the same bits in whatever order it is made, by any number of threads: whole numbers of 2^-128, 32 bits
/// in each part. Additions of whole numbers may be atomic where those of floats may not, so that whoever finds an impulse
/// can tell it at once, and nobody has to list them first. What is larger than 2^128, or no number, is left out.
struct ExactSum {
  static constexpr int parts = 8;
  std::int64_t part[parts];

  TRIBO_HD void add(double value) {
    constexpr double digits = 4294967296.0;  // 2^32
    double unit = 7.9228162514264338e28;     // 2^96
    if (!(value < digits * unit && value > -digits * unit)) return;
    for (int k = parts - 1; k >= 0; --k, unit *= 1 / digits) {
      const auto whole = static_cast<std::int64_t>(value / unit);
      if (whole == 0) continue;
      add_at_once(part + k, whole);
      value -= static_cast<double>(whole) * unit;
    }
  }
  /// Takes all of another, whose parts may be larger than 32 bits.
  TRIBO_HD void take(ExactSum& other) {
    std::int64_t carry = 0;
    for (int k = 0; k < parts; ++k) {
      const std::int64_t sum = part[k] + other.part[k] + carry;
      other.part[k] = 0;
      carry = k + 1 < parts ? sum >> 32 : 0;
      part[k] = sum - carry * (std::int64_t{1} << 32);
    }
  }
  double value() const {
    // Of what is less than nothing all parts but the last are more, and would lose all digits to it.
    const bool negative = part[parts - 1] < 0;
    ExactSum positive{}, own = *this;
    if (negative)
      for (std::int64_t& one : own.part) one = -one;
    positive.take(own);
    double sum = 0, unit = 7.9228162514264338e28;
    for (int k = parts - 1; k >= 0; --k, unit *= 1 / 4294967296.0) sum += static_cast<double>(positive.part[k]) * unit;
    return negative ? -sum : sum;
  }

 private:
  TRIBO_HD static void add_at_once(std::int64_t* to, std::int64_t value) {
#if defined(__CUDA_ARCH__)
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
  }
};

/// Impulse, and its moment about the origin or what else the entry says.
struct ContactSum {
  static constexpr int numbers = 6;
  ExactSum of[numbers];
};

/// Where kernels tell impulses: an entry for each collider of the scene, then one for each object.
struct ContactTally {
  ContactSum* entry = nullptr;  ///< null: nobody asks
  Index colliders = 0;

  TRIBO_OUTLINED void add(Index to, const double* numbers) const {
    for (int k = 0; k < ContactSum::numbers; ++k) entry[to].of[k].add(numbers[k]);
  }
};

/// Impulses in the order in which one thread finds them, put together before they are told: what touches the same comes
/// together as a rule, and additions of doubles are much less than exact ones. `end` tells what is left.
class TallyRun {
 public:
  TRIBO_HD explicit TallyRun(const ContactTally& tally) : tally_(tally) {
    for (Index& to : to_) to = -1;
  }

  /// Of an impulse at x on an entry; less than 0: on nobody.
  TRIBO_HD void add(Index to, const Vec<double, 3>& x, const Vec<double, 3>& impulse) {
    add_moment(to, impulse, cross(x, impulse));
  }
  TRIBO_HD void add_moment(Index to, const Vec<double, 3>& impulse, const Vec<double, 3>& moment) {
    if (tally_.entry == nullptr || to < 0) return;
    int slot = 0;
    while (slot < slots - 1 && to_[slot] >= 0 && to_[slot] != to) ++slot;
    if (to_[slot] != to) {
      if (to_[slot] >= 0) tally_.add(to_[slot], sum_[slot]);
      to_[slot] = to;
      for (double& number : sum_[slot]) number = 0;
    }
    for (int k = 0; k < 3; ++k) {
      sum_[slot][k] += impulse[k];
      sum_[slot][3 + k] += moment[k];
    }
  }
  TRIBO_HD void end() const {
    for (int slot = 0; slot < slots; ++slot)
      if (to_[slot] >= 0) tally_.add(to_[slot], sum_[slot]);
  }

 private:
  static constexpr int slots = 4;
  ContactTally tally_;
  Index to_[slots];
  double sum_[slots][ContactSum::numbers];
};

/// item(i, run) of items that have something to tell, some of them by one thread.
template <class Item>
struct TellItems {
  static constexpr Index together = 32;
  ContactTally tally;
  Index count;
  Item item;
  TRIBO_HD void operator()(Index chunk) const {
    TallyRun run(tally);
    const Index begin = chunk * together;
    for (Index i = begin; i < count && i < begin + together; ++i) item(i, run);
    run.end();
  }
};
template <class Item>
void tell_each(Exec& ex, const char* label, const ContactTally& tally, Index count, const Item& item) {
  if (tally.entry == nullptr) return;
  constexpr Index chunks_of_a_task = 8;
  parallel_for(ex, label, (count + TellItems<Item>::together - 1) / TellItems<Item>::together,
               TellItems<Item>{tally, count, item}, chunks_of_a_task);
}

/// What a try has found joins what the frame has, once it is taken.
struct SettleSum {
  ContactSum *of_try, *of_frame;
  bool taken;
  TRIBO_HD void operator()(Index i) const {
    ExactSum& tried = of_try[i / ContactSum::numbers].of[i % ContactSum::numbers];
    if (taken) {
      of_frame[i / ContactSum::numbers].of[i % ContactSum::numbers].take(tried);
    } else {
      for (std::int64_t& part : tried.part) part = 0;
    }
  }
};

/// The sums. A step is tried, and taken or not; nothing waits for the device but who reads.
class ContactSums {
 public:
  /// Without this nobody is asked.
  void resize(Exec& ex, Index colliders, Index objects) {
    colliders_ = colliders;
    count_ = colliders + objects;
    clear(ex);
  }
  /// A frame begins.
  void clear(Exec& ex) {
    host_.assign(static_cast<std::size_t>(count_), ContactSum{});
    copy_to_device(ex, host_.data(), tried_, count_);
    copy_to_device(ex, host_.data(), frame_, count_);
    taken_ = false;
  }
  /// A try begins; the one before was taken, or is forgotten.
  ContactTally begin_try(Exec& ex) {
    settle(ex);
    return {tried_.data(), colliders_};
  }
  void take() { taken_ = true; }

  std::vector<ContactImpulse> read(Exec& ex) {
    fetch(ex);
    std::vector<ContactImpulse> impulses;
    for (const ContactSum& sum : host_) {
      ContactImpulse one;
      for (int k = 0; k < 3; ++k) {
        one.linear[k] = sum.of[k].value();
        one.angular[k] = sum.of[3 + k].value();
      }
      impulses.push_back(one);
    }
    return impulses;
  }

  /// To the last bit, so that a frame can go on after a checkpoint.
  const std::vector<ContactSum>& fetch(Exec& ex) {
    settle(ex);
    copy_to_host(ex, frame_, host_.data(), count_);
    return host_;
  }
  Index count() const { return count_; }
  void restore(Exec& ex, const ContactSum* sums) {
    clear(ex);
    copy_to_device(ex, sums, frame_, count_);
  }
  std::size_t bytes() const { return tried_.bytes() + frame_.bytes(); }

 private:
  void settle(Exec& ex) {
    if (count_ == 0) return;
    parallel_for(ex, "contact", count_ * ContactSum::numbers, SettleSum{tried_.data(), frame_.data(), taken_});
    taken_ = false;
  }

  Index colliders_ = 0, count_ = 0;
  bool taken_ = false;
  Array<ContactSum> tried_, frame_;
  std::vector<ContactSum> host_;
};

}  // namespace tribo::TRIBO_BACKEND
