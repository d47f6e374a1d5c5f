// Building packs and running them.
#include "first_order/pack.hpp"

#include <algorithm>

namespace hornbeam {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

} // namespace

Pack::Pack(const RelationalDatabase &given, std::span<const Literal> stick_literals,
           std::span<const ReadyGroup *const> ready)
    : database(given), groups(ready.begin(), ready.end()) {
    n_variables = variables_of(stick_literals);
    for (const ReadyGroup *g : groups) n_variables = std::max(n_variables, variables_of(g->literals()));
    Bound bound(n_variables);
    for (const Literal &literal : stick_literals) stick.push_back(step_of(database, literal, bound));
    nodes.reserve(2 * groups.size() + 1);
    nodes.push_back({{}, nullptr, -1, -1, false, 0, {}, {}, bound});
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::int32_t node = 0;
        for (const Literal &literal : groups[g]->literals()) node = child_of(node, literal);
        nodes[at(node)].terminals.push_back(static_cast<std::int32_t>(g));
        terminals.push_back({static_cast<std::int32_t>(g), node});
        for (; node >= 0; node = nodes[at(node)].parent) ++nodes[at(node)].open;
    }
}

std::int32_t Pack::child_of(std::int32_t parent, const Literal &literal) {
    for (std::int32_t c : nodes[at(parent)].children)
        if (*nodes[at(c)].literal == literal) return c;
    const auto made = static_cast<std::int32_t>(nodes.size());
    Node node{{},
              &literal,
              parent,
              parent == 0 ? made : nodes[at(parent)].branch,
              false,
              0,
              {},
              {},
              nodes[at(parent)].bound};
    node.step = step_of(database, literal, node.bound);
    node.hole = literal.has_hole();
    nodes.push_back(std::move(node));
    nodes[at(parent)].children.push_back(made);
    return made;
}

PackRun::PackRun(const Pack &pack, std::uint64_t budget, Cancel &cancel)
    : pack_(pack), budget_(budget), open_(pack.nodes.size()), spent_(pack.nodes.size()),
      killed_(pack.nodes.size()), done_(pack.groups.size()), wanted_(pack.groups.size(), true),
      found_(pack.groups.size()), stamp_(pack.groups.size()), extreme_(pack.groups.size(), null_code) {
    b_.value.assign(pack.n_variables + 1, null_code);
    b_.cancel = &cancel;
    for (const Pack::Node &node : pack.nodes) all_open_.push_back(node.open);
    for (std::size_t g = 0; g < pack.groups.size(); ++g)
        if (pack.groups[g]->group->hole == HoleKind::constants) stamp_[g].resize(pack.groups[g]->n_constants);
}

void PackRun::reset(std::size_t example, const std::vector<bool> *wanted) {
    b_.start(pack_.database, example);
    stick_ = 0;
    overflow_ = false;
    branch_ = -1;
    ++runs_;
    std::fill(done_.begin(), done_.end(), false);
    std::fill(extreme_.begin(), extreme_.end(), null_code);
    for (auto &found : found_) found.clear();
    for (std::int32_t child : pack_.nodes[0].children) spent_[at(child)] = 0, killed_[at(child)] = false;
    if (wanted == nullptr) {
        open_ = all_open_;
        if (partly_) std::fill(wanted_.begin(), wanted_.end(), true);
        partly_ = false;
        return;
    }
    partly_ = true;
    std::fill(open_.begin(), open_.end(), 0);
    wanted_ = *wanted;
    for (const Pack::Terminal &t : pack_.terminals)
        if (wanted_[at(t.group)])
            for (std::int32_t node = t.node; node >= 0; node = pack_.nodes[at(node)].parent)
                ++open_[at(node)];
}

void PackRun::run(std::size_t example, const std::vector<bool> *wanted) {
    reset(example, wanted);
    if (open_[0] != 0) at_stick(0);
    all_steps_ += b_.steps;
}

bool PackRun::unsure(std::size_t group) const {
    if (done_[group]) return false;
    const std::int32_t branch = pack_.nodes[at(pack_.terminals[group].node)].branch;
    return overflow_ || killed_[at(branch)] || stick_ + spent_[at(branch)] > budget_;
}

bool PackRun::at_stick(std::size_t i) {
    if (i == pack_.stick.size()) {
        for (std::int32_t child : pack_.nodes[0].children)
            if (open_[at(child)] > 0) run_branch(child);
        return open_[0] == 0;
    }
    const bool counts = pack_.stick[i].relation != nullptr;
    return each_fit(pack_.stick[i], b_, [&] {
        stick_ += counts;
        if (stick_ > budget_) return overflow_ = true;
        return at_stick(i + 1);
    });
}

void PackRun::run_branch(std::int32_t node) {
    branch_ = node;
    before_ = b_.steps;
    run_node(node);
    spent_[at(node)] += b_.steps - before_;
    branch_ = -1;
}

void PackRun::run_node(std::int32_t n) {
    const Pack::Node &node = pack_.nodes[at(n)];
    each_fit(node.step, b_, [&] {
        if (too_many()) {
            kill();
            return true;
        }
        if (node.hole && b_.value[pack_.n_variables] < 0) return false;
        visit(n);
        return open_[at(n)] == 0 || killed_[at(branch_)];
    });
}

void PackRun::visit(std::int32_t n) {
    const Pack::Node &node = pack_.nodes[at(n)];
    for (std::int32_t group : node.terminals)
        if (wanted_[at(group)] && !done_[at(group)]) reach(group);
    for (std::int32_t child : node.children)
        if (open_[at(child)] > 0 && !killed_[at(branch_)]) run_node(child);
}

void PackRun::reach(std::int32_t g) {
    const ReadyGroup &ready = *pack_.groups[at(g)];
    const Code hole = b_.value[pack_.n_variables];
    switch (ready.group->hole) {
    case HoleKind::none:
        return finish(g);
    case HoleKind::at_most:
        if (extreme_[at(g)] < 0 || hole < extreme_[at(g)]) extreme_[at(g)] = hole;
        return;
    case HoleKind::above:
        extreme_[at(g)] = std::max(extreme_[at(g)], hole);
        return;
    case HoleKind::constants:
        break;
    }
    const std::int32_t constant = (*ready.constant_of)[at(hole)];
    if (constant < 0 || stamp_[at(g)][at(constant)] == runs_) return;
    stamp_[at(g)][at(constant)] = runs_;
    found_[at(g)].push_back(constant);
    if (found_[at(g)].size() == ready.n_constants) finish(g);
}

void PackRun::finish(std::int32_t g) {
    if (too_many()) return kill();
    done_[at(g)] = true;
    for (std::int32_t n = pack_.terminals[at(g)].node; n >= 0; n = pack_.nodes[at(n)].parent) --open_[at(n)];
}

void PackRun::kill() {
    killed_[at(branch_)] = true;
    open_[0] -= open_[at(branch_)];
    open_[at(branch_)] = 0;
}

} // namespace hornbeam
