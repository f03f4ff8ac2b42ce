#include "tribo/matter/rigid/contact/joint_order.h"

#include <algorithm>

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr Index none = -1;
constexpr Index body_size = 6;

/// Joints of each body that moves.
std::vector<std::vector<Index>> joints_of_bodies(const RigidSeed& seed) {
  std::vector<std::vector<Index>> of(seed.bodies.size());
  for (std::size_t j = 0; j < seed.joints.size(); ++j)
    for (const Index i : {seed.joints[j].a, seed.joints[j].b})
      if (i >= 0 && seed.bodies[static_cast<std::size_t>(i)].drive < 0)
        of[static_cast<std::size_t>(i)].push_back(static_cast<Index>(j));
  return of;
}

/// What hangs together, as a tree.
class Tree {
 public:
  Tree(const RigidSeed& seed, const std::vector<std::vector<Index>>& joints)
      : seed_(seed),
        joints_(joints),
        parent_(joints.size(), none),
        hangs_by_(joints.size(), none),
        depth_(joints.size(), none) {}

  bool met(Index body) const { return depth_[index(body)] != none; }

  /// All that hangs together with a body, in the order of elimination: visit(body or -1, joint or -1).
  template <class Visit>
  void eliminate(Index from, const Visit& visit) {
    const std::vector<Index> all = together_with(from);
    std::vector<Index> order;  // from the root on
    for (const Index body : all)
      for (const Index j : joints_[index(body)])
        if (moving(other(j, body)) == none && !met(body)) {
          depth_[index(body)] = 1;
          hangs_by_[index(body)] = j;
          order.push_back(body);
        }
    if (order.empty()) {
      const auto lighter = [&](Index a, Index b) { return seed_.bodies[index(a)].mass < seed_.bodies[index(b)].mass; };
      const Index root = *std::max_element(all.begin(), all.end(), lighter);
      depth_[index(root)] = 1;
      order.push_back(root);
    }
    for (std::size_t k = 0; k < order.size(); ++k)
      for (const Index j : joints_[index(order[k])]) {
        const Index next = moving(other(j, order[k]));
        if (next == none || met(next)) continue;
        depth_[index(next)] = depth_[index(order[k])] + 1;
        parent_[index(next)] = order[k];
        hangs_by_[index(next)] = j;
        order.push_back(next);
      }
    // loops, by the body where they close
    std::vector<std::pair<Index, Index>> loops;
    for (const Index body : all)
      for (const Index j : joints_[index(body)]) {
        const Index next = moving(other(j, body));
        if (hangs_by_[index(body)] == j || (next != none && (hangs_by_[index(next)] == j || next < body))) continue;
        loops.emplace_back(meeting(body, next), j);
      }
    std::stable_sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto close = [&](Index at) {
      auto loop = std::lower_bound(loops.begin(), loops.end(), at, [](const auto& a, Index b) { return a.first < b; });
      for (; loop != loops.end() && loop->first == at; ++loop) visit(none, loop->second);
    };
    for (auto body = order.rbegin(); body != order.rend(); ++body) {
      visit(*body, none);
      close(*body);
      if (hangs_by_[index(*body)] != none) visit(none, hangs_by_[index(*body)]);
    }
    close(none);
  }

 private:
  static std::size_t index(Index i) { return static_cast<std::size_t>(i); }
  Index other(Index joint, Index body) const {
    const RigidJoint& j = seed_.joints[index(joint)];
    return j.a == body ? j.b : j.a;
  }
  Index moving(Index body) const { return body >= 0 && seed_.bodies[index(body)].drive < 0 ? body : none; }
  std::vector<Index> together_with(Index from) {
    std::vector<Index> all = {from};
    std::vector<bool>& seen = seen_;
    seen.resize(joints_.size(), false);
    seen[index(from)] = true;
    for (std::size_t k = 0; k < all.size(); ++k)
      for (const Index j : joints_[index(all[k])]) {
        const Index next = moving(other(j, all[k]));
        if (next == none || seen[index(next)]) continue;
        seen[index(next)] = true;
        all.push_back(next);
      }
    return all;
  }
  /// Of two ways to the root the first body on both, or none.
  Index meeting(Index a, Index b) const {
    while (a != b) {
      if (a == none || b == none) return none;
      Index& deeper = depth_[index(a)] >= depth_[index(b)] ? a : b;
      deeper = parent_[index(deeper)];
    }
    return a;
  }

  const RigidSeed& seed_;
  const std::vector<std::vector<Index>>& joints_;
  std::vector<Index> parent_, hangs_by_, depth_;
  std::vector<bool> seen_;
};

/// The pattern of L of one component, from that of the matrix: which scalars before it each has to do with.
struct Pattern {
  std::vector<Index> column_begin, row_begin = {0}, l_row;
  std::vector<JointEntry> entry;

  void add(const std::vector<std::vector<Index>>& before) {
    const std::size_t n = before.size();
    std::vector<Index> parent(n, none), mark(n, none);
    std::vector<std::vector<Index>> rows(n), columns(n);
    for (std::size_t k = 0; k < n; ++k) {
      const auto own = static_cast<Index>(k);
      mark[k] = own;
      for (Index i : before[k])
        for (; mark[static_cast<std::size_t>(i)] != own; i = parent[static_cast<std::size_t>(i)]) {
          const auto at = static_cast<std::size_t>(i);
          if (parent[at] == none) parent[at] = own;
          rows[k].push_back(i);
          mark[at] = own;
        }
      std::sort(rows[k].begin(), rows[k].end());
      for (const Index i : rows[k]) columns[static_cast<std::size_t>(i)].push_back(own);
    }
    std::vector<Index> next(n);
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = static_cast<Index>(l_row.size());
      column_begin.push_back(next[i]);
      l_row.insert(l_row.end(), columns[i].begin(), columns[i].end());
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (const Index i : rows[k]) entry.push_back({i, next[static_cast<std::size_t>(i)]++});
      row_begin.push_back(static_cast<Index>(entry.size()));
    }
  }
};

}  // namespace

void order_joints(Exec& ex, const RigidSeed& seed, const std::vector<Index>& rows, JointOrder& order) {
  const std::vector<std::vector<Index>> joints = joints_of_bodies(seed);
  Tree tree(seed, joints);
  std::vector<JointComponent> components;
  std::vector<JointNode> nodes;
  std::vector<JointNear> near;
  Pattern pattern;
  std::vector<Index> body_node(seed.bodies.size(), none), joint_node(seed.joints.size(), none);
  Index first = 0;
  for (std::size_t from = 0; from < seed.bodies.size(); ++from) {
    if (joints[from].empty() || tree.met(static_cast<Index>(from))) continue;
    JointComponent component{static_cast<Index>(nodes.size()), 0, first, 0};
    std::vector<std::vector<Index>> before;
    tree.eliminate(static_cast<Index>(from), [&](Index body, Index joint) {
      JointNode node{joint,
                     body,
                     component.size,
                     body >= 0 ? body_size : rows[static_cast<std::size_t>(joint)],
                     static_cast<Index>(near.size()),
                     0};
      const auto meet = [&](Index j, Index b, Index neighbor) {
        if (neighbor == none) return;
        near.push_back({j, b, seed.joints[static_cast<std::size_t>(j)].b == b ? 1 : 0,
                        rows[static_cast<std::size_t>(j)], nodes[static_cast<std::size_t>(neighbor)].at});
      };
      if (body >= 0) {
        for (const Index j : joints[static_cast<std::size_t>(body)])
          meet(j, body, joint_node[static_cast<std::size_t>(j)]);
        body_node[static_cast<std::size_t>(body)] = static_cast<Index>(nodes.size());
      } else {
        const RigidJoint& j = seed.joints[static_cast<std::size_t>(joint)];
        for (const Index b : {j.a, j.b})
          if (b >= 0) meet(joint, b, body_node[static_cast<std::size_t>(b)]);
        joint_node[static_cast<std::size_t>(joint)] = static_cast<Index>(nodes.size());
      }
      node.near_end = static_cast<Index>(near.size());
      for (Index k = 0; k < node.size; ++k) {
        std::vector<Index> earlier;
        for (Index e = node.near_begin; e < node.near_end; ++e) {
          const JointNear& one = near[static_cast<std::size_t>(e)];
          const Index size = body >= 0 ? one.rows : body_size;
          for (Index i = 0; i < size; ++i) earlier.push_back(one.at + i);
        }
        if (body >= 0)
          for (Index i = 0; i < k; ++i) earlier.push_back(node.at + i);
        before.push_back(earlier);
      }
      component.size += node.size;
      nodes.push_back(node);
    });
    component.node_end = static_cast<Index>(nodes.size());
    first += component.size;
    components.push_back(component);
    pattern.add(before);
  }
  pattern.column_begin.push_back(static_cast<Index>(pattern.l_row.size()));
  order.components = static_cast<Index>(components.size());
  const auto send = [&](const auto& from, auto& to) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
  };
  send(components, order.component);
  send(nodes, order.node);
  send(near, order.near);
  send(pattern.column_begin, order.column_begin);
  send(pattern.row_begin, order.row_begin);
  send(pattern.entry, order.entry);
  send(pattern.l_row, order.l_row);
  const std::vector<double> zero(static_cast<std::size_t>(first), 0);
  for (Array<double>* a : {&order.d, &order.x, &order.y}) send(zero, *a);
  order.l.resize_discard(static_cast<Index>(pattern.l_row.size()));
  order.fresh.resize_discard(order.components);
}

}  // namespace tribo::TRIBO_BACKEND
