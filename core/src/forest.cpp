// Grafting of parts grown apart, and reading one set's tree out of the forest.
#include "hornbeam/forest.hpp"

#include <algorithm>
#include <stdexcept>

namespace hornbeam {

void Forest::graft(std::size_t node, const Forest &part) {
    costs.add(part.costs);
    const std::uint64_t lane0 = lanes.size(), count0 = count.size(), branch0 = branch_code.size(),
                        competitor0 = competitors.size();
    const auto arm0 = static_cast<std::int32_t>(arms.size());
    const auto node0 = static_cast<std::int32_t>(nodes.size()) - 1; // the part's node 0 is not appended
    auto moved = [&](LaneRecord r) {
        if (r.arm >= 0) r.arm += arm0;
        r.count_begin += count0, r.count_end += count0;
        r.branch_begin += branch0, r.branch_end += branch0;
        r.competitor_begin += competitor0, r.competitor_end += competitor0;
        return r;
    };
    for (const LaneRecord &r : part.lanes) lanes.push_back(moved(r));
    // Sets that ended at the node keep their records; those that grew on take the part's.
    for (std::uint64_t i = part.nodes[0].lane_begin; i < part.nodes[0].lane_end; ++i)
        lanes[record_of(node, part.lanes[i].set)] = moved(part.lanes[i]);
    for (std::size_t i = 1; i < part.nodes.size(); ++i)
        nodes.push_back({part.nodes[i].lane_begin + lane0, part.nodes[i].lane_end + lane0});
    for (Arm a : part.arms) {
        a.first_child += node0;
        arms.push_back(a);
    }
    for (Competitor c : part.competitors) {
        c.branch_begin += branch0, c.branch_end += branch0;
        competitors.push_back(c);
    }
    count_class.insert(count_class.end(), part.count_class.begin(), part.count_class.end());
    count.insert(count.end(), part.count.begin(), part.count.end());
    mean.insert(mean.end(), part.mean.begin(), part.mean.end());
    branch_code.insert(branch_code.end(), part.branch_code.begin(), part.branch_code.end());
    branch_child.insert(branch_child.end(), part.branch_child.begin(), part.branch_child.end());
}

std::size_t Forest::record_of(std::size_t node, std::int32_t set) const {
    for (std::size_t i = nodes[node].lane_begin; i < nodes[node].lane_end; ++i)
        if (lanes[i].set == set) return i;
    throw std::logic_error("training set is not at this node of the forest");
}

namespace {

/// The children of an arm that one set's examples reach, ascending.
std::vector<std::int32_t> children_reached(const Forest &f, const LaneRecord &r, const Arm &arm) {
    std::vector<std::int32_t> out;
    if (arm.kind == TestKind::multiway) {
        out.assign(f.branch_child.begin() + static_cast<std::ptrdiff_t>(r.branch_begin),
                   f.branch_child.begin() + static_cast<std::ptrdiff_t>(r.branch_end));
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
    } else {
        out = {0, 1};
    }
    return out;
}

void append_lane(FlatTree &t, const Forest &f, std::size_t index) {
    const LaneRecord &r = f.lanes[index];
    t.rows.push_back(r.rows);
    t.weight.push_back(r.weight);
    t.impurity.push_back(r.impurity);
    for (std::uint64_t i = r.count_begin; i < r.count_end; ++i) {
        t.count_class.push_back(f.count_class[i]);
        t.count.push_back(f.count[i]);
    }
    t.count_start.push_back(static_cast<std::int64_t>(t.count.size()));
    for (std::int32_t k = 0; k < f.n_targets; ++k)
        t.mean.push_back(f.mean[index * static_cast<std::size_t>(f.n_targets) + static_cast<std::size_t>(k)]);
}

void append_leaf(FlatTree &t) {
    t.kind.push_back(static_cast<std::uint8_t>(TestKind::leaf));
    t.attribute.push_back(-1);
    t.first_child.push_back(-1);
    t.n_children.push_back(0);
    t.default_child.push_back(-1);
    t.threshold.push_back(0.0);
    t.threshold_integer.push_back(0);
    t.gain.push_back(0.0);
}

void append_competitors(FlatCompetitors &to, const Forest &f, const LaneRecord &r) {
    for (std::uint64_t i = r.competitor_begin; i < r.competitor_end; ++i) {
        const Competitor &c = f.competitors[i];
        to.kind.push_back(static_cast<std::uint8_t>(c.kind));
        to.attribute.push_back(c.attribute);
        to.default_child.push_back(c.default_child);
        to.threshold.push_back(c.threshold);
        to.threshold_integer.push_back(c.threshold_integer);
        to.quality.push_back(c.quality);
        to.gain.push_back(c.gain);
        for (std::uint64_t b = c.branch_begin; b < c.branch_end; ++b) {
            to.branch_code.push_back(f.branch_code[b]);
            to.branch_child.push_back(f.branch_child[b]);
        }
        to.branch_start.push_back(static_cast<std::int64_t>(to.branch_code.size()));
    }
    to.start.push_back(static_cast<std::int64_t>(to.kind.size()));
}

} // namespace

FlatTree Forest::extract(std::int32_t set, Cancel &cancel) const {
    FlatTree t;
    t.n_classes = n_classes;
    t.n_targets = n_targets;
    t.branch_start.push_back(0);
    t.count_start.push_back(0);
    if (keeps_competitors) t.competitors.start = t.competitors.branch_start = {0};
    std::vector<std::size_t> queue{record_of(0, set)}; // records in breadth-first order
    for (std::size_t at = 0; at < queue.size(); ++at) {
        if (at % 8192 == 8191) cancel.poll();
        const LaneRecord &r = lanes[queue[at]];
        append_lane(t, *this, queue[at]);
        append_leaf(t);
        if (keeps_competitors) append_competitors(t.competitors, *this, r);
        if (r.arm >= 0) {
            const Arm &arm = arms[static_cast<std::size_t>(r.arm)];
            std::vector<std::int32_t> reached = children_reached(*this, r, arm);
            auto place = [&](std::int32_t child) {
                return static_cast<std::int32_t>(std::lower_bound(reached.begin(), reached.end(), child) -
                                                 reached.begin());
            };
            t.kind.back() = static_cast<std::uint8_t>(arm.kind);
            t.attribute.back() = arm.attribute;
            t.first_child.back() = static_cast<std::int32_t>(queue.size());
            t.n_children.back() = static_cast<std::int32_t>(reached.size());
            t.default_child.back() = place(r.default_child);
            t.threshold.back() = r.threshold;
            t.threshold_integer.back() = r.threshold_integer;
            t.gain.back() = r.gain;
            for (std::uint64_t i = r.branch_begin; i < r.branch_end; ++i) {
                t.branch_code.push_back(branch_code[i]);
                t.branch_child.push_back(branch_child[i] < 0 ? -1 : place(branch_child[i]));
            }
            for (std::int32_t child : reached)
                queue.push_back(record_of(static_cast<std::size_t>(arm.first_child + child), set));
        }
        t.branch_start.push_back(static_cast<std::int64_t>(t.branch_code.size()));
    }
    return t;
}

} // namespace hornbeam
