#pragma once

#include <functional>
#include <vector>

#include "tribo/matter/rigid/contact/joints.h"
#include "tribo/matter/rigid/contact/row_packs.h"

/// \file
/// Impulses between rigid bodies and colliders: projected Gauss-Seidel over all rows (experiments_rigid
/// "Recommended defaults" 4 and 5). Pairs that share no body that moves have one color and are done at once, in any
/// order; colors follow each other. So results have the same bytes for any number of threads.

namespace tribo::TRIBO_BACKEND {

/// What a sweep has changed: see solve.cpp.
struct SweepChange {
  double size, along;
};

/// How far sweeps have come, where they are: nothing waits for it on the host.
struct SweepPace {
  std::int64_t swept;  ///< rows times sweeps, ever
  Index sweep;
  Index since;   ///< sweeps since the way was forgotten
  Index done;    ///< 1: there is nothing left to change
  double first;  ///< size of the change by the first sweep
  double more;   ///< part of the way before that is gone on
};

struct RigidColors {
  std::vector<RigidTie> host, found, lanes_host;
  std::vector<TiePack> packs_host;
  std::vector<Index> color;              ///< of what was found
  std::vector<Index> start, pack_start;  ///< of each color in `tie` and among packs, and the end of the last
  std::vector<std::uint64_t> used;
  std::vector<RigidPair> pairs;
  Array<RigidTie> tie;  ///< by color
  RowPacks packs;
  Array<Index> device_start;  ///< pack_start
  Array<SweepPace> pace;      ///< one
  Array<SweepChange> sum;     ///< of some bodies each
  bool serial_last = false;   ///< the last color is of those that found no other: one after the other

  std::size_t bytes() const { return tie.bytes() + packs.bytes() + device_start.bytes() + pace.bytes() + sum.bytes(); }
};

/// Puts pairs into colors, in their order.
void color_ties(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, RigidColors& colors);

enum class SweepMode : int {
  solve,  ///< changes impulses until rows have what they want
  shift   ///< the same for places alone
};

/// When sweeps end.
struct SweepsUntil {
  int usual, most;        ///< sweeps; more than `usual` only while each changes more than `nearly`
  double enough, nearly;  ///< twice the energies of a change that is none, and of one that may be left [J]
};

/// Gives bodies the impulses that rows begin with, and lays rows out for sweeps.
void begin_ties(Exec& ex, RigidColors& colors, RigidContacts& contacts, RigidWork& work);

/// After sweeps: their impulses to the rows that they are of.
void bring_rows_back(Exec& ex, RigidColors& colors, RigidContacts& contacts);

/// Rows times sweeps, there and back, since the start.
std::int64_t row_sweeps(Exec& ex, const RigidColors& colors);

/// What is solved beside rows, as joints are, with the number of the sweep. False where that is not all yet.
using BetweenSweeps = std::function<bool(int)>;

/// All rows, forward and backward, and then `between`, where there is one.
void sweep_ties(Exec& ex, RigidColors& colors, SweepMode mode, const SweepsUntil& until, const RigidContacts& contacts,
                JointWork& joints, RigidWork& work, const BetweenSweeps& between = {});

/// Bodies that are moved apart across the way in which they pass each other have another angular momentum together.
/// Their spins give it back, most of it that of the one that turns less easily. After all else of a step.
void turn_back(Exec& ex, const RigidColors& colors, double dt, RigidContacts& contacts, RigidWork& work);

/// Notes which bodies rows hold, once that is settled.
void mark_touched(Exec& ex, const RigidColors& colors, const RigidContacts& contacts, RigidWork& work);

/// All bodies of a step with what holds them, for others that push them after they are placed and rows are made.
struct RigidStep {
  const RigidMesh* mesh = nullptr;  ///< null: there are none
  const RigidState* state = nullptr;
  const RigidJoints* joints = nullptr;
  RigidColors* colors = nullptr;
  RigidContacts* contacts = nullptr;
  JointWork* joint_rows = nullptr;
  RigidWork* work = nullptr;
  double dt = 0;
  double enough = 0, nearly = 0;  ///< see SweepsUntil

  /// Lets joints and contacts answer to what others have pushed.
  void answer(Exec& ex, int usual, int most) const;
};

}  // namespace tribo::TRIBO_BACKEND
