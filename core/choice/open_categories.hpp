// How tests are written down: which categories can be present at a node, and the brief form that follows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "choice/test.hpp"
#include "tree/forest.hpp"

namespace hornbeam {

/// The test that a set takes at a node, but for its threshold or branches. The records of the children come
/// next.
inline LaneTest begin_test(const GrownSet &grown, const Choice &c) {
    LaneTest test;
    test.attribute = c.attribute;
    test.kind = c.kind;
    test.gain = c.gain;
    test.first_child = static_cast<std::int32_t>(grown.records.size());
    test.default_child = c.default_child;
    return test;
}

/// One attribute that was tested above, for one training set: `n` categories are open, namely those that the
/// last test of it sends here. Without such a note the next test of the attribute is written in full.
struct OpenNote {
    std::int32_t attribute = -1;
    std::int32_t link = -1;
    std::int64_t n = 0;
    std::int32_t child = -1; // where the node itself tests the attribute: the child that the note is for
};

/// Writes the branches of nominal tests to the forest. A chain of tests on one attribute would write nearly
/// every category present again at each node; the brief form of FlatTree writes what turns off the chain.
class OpenCategories {
  public:
    /// Writes the test that a set takes at a node, and puts down in `notes` what it leaves open.
    void record(GrownSet &grown, LaneTest &test, const Choice &c, std::vector<OpenNote> &notes) {
        const OpenNote above = taken_out(notes, c.attribute);
        Branches listed = c.branches;
        if (c.n_children == 2 && c.kind != TestKind::multiway) {
            const bool brief = shorten(listed, c, above);
            put_down(c, brief ? &listed : nullptr, above, notes);
        }
        for (auto [code, child] : listed) grown.add_branch(code, child);
        test.n_branches = static_cast<std::uint32_t>(listed.size());
    }

    static std::vector<OpenNote> inherited(const std::vector<OpenNote> &notes, std::size_t child) {
        std::vector<OpenNote> out;
        for (OpenNote note : notes) {
            if (note.child >= 0 && note.child != static_cast<std::int32_t>(child)) continue;
            note.child = -1;
            out.push_back(note);
        }
        return out;
    }

    /// The notes of a node of `rows` rows that is grown on here, put down over there. Where more than twice
    /// as many categories are open as can be present, the next test is written in full anyway.
    std::vector<OpenNote> adopted(const OpenCategories &there, const std::vector<OpenNote> &notes,
                                  std::size_t rows) {
        std::vector<OpenNote> out;
        for (const OpenNote &note : notes)
            if (note.n < 2 * static_cast<std::int64_t>(rows))
                out.push_back({note.attribute, add(there.open(note.link), -1), note.n});
        return out;
    }

  private:
    using Branches = std::vector<std::pair<std::int32_t, std::int32_t>>;
    using Codes = std::vector<std::int32_t>; // ascending

    /// `codes` are open, or, where a link is above, no longer open of those.
    struct Link {
        Codes codes;
        std::int32_t above = -1;
    };
    std::deque<Link> links_; // a vector that doubles holds thrice as much while it moves

    std::int32_t add(Codes codes, std::int32_t above) {
        links_.push_back({std::move(codes), above});
        return static_cast<std::int32_t>(links_.size()) - 1;
    }
    static OpenNote taken_out(std::vector<OpenNote> &notes, std::int32_t attribute) {
        auto note = std::find_if(notes.begin(), notes.end(),
                                 [&](const OpenNote &o) { return o.attribute == attribute; });
        if (note == notes.end()) return {};
        OpenNote out = *note;
        notes.erase(note);
        return out;
    }

    /// Makes the branches brief where that is shorter: what goes to the default child is left out, what is
    /// open but not present comes in with child -1.
    bool shorten(Branches &listed, const Choice &c, const OpenNote &above) const {
        if (above.attribute < 0 || (c.kind == TestKind::value && c.default_child == 0)) return false;
        auto by_default = [&](const auto &b) { return b.second == c.default_child; };
        const auto present = static_cast<std::int64_t>(listed.size());
        if (above.n - present >= std::count_if(listed.begin(), listed.end(), by_default)) return false;
        Codes before;
        if (above.n != present) before = open(above.link);
        std::erase_if(listed, by_default);
        auto code = c.branches.begin();
        for (std::int32_t b : before) {
            while (code != c.branches.end() && code->first < b) ++code;
            if (code == c.branches.end() || code->first != b) listed.emplace_back(b, -1);
        }
        std::sort(listed.begin(), listed.end());
        return true;
    }

    /// Notes for both children; one with a single category has no further test of the attribute.
    void put_down(const Choice &c, const Branches *brief, const OpenNote &above,
                  std::vector<OpenNote> &notes) {
        for (std::int32_t child = 0; child < 2; ++child) {
            auto goes_there = [&](const auto &b) { return b.second == child; };
            auto n = std::count_if(c.branches.begin(), c.branches.end(), goes_there);
            if (n < 2) continue;
            const bool closing = brief != nullptr && child == c.default_child;
            Codes codes;
            for (const auto &b : closing ? *brief : c.branches)
                if (closing || goes_there(b)) codes.push_back(b.first);
            notes.push_back({c.attribute, add(std::move(codes), closing ? above.link : -1), n, child});
        }
    }
    Codes open(std::int32_t link) const {
        Codes closed, out;
        for (; links_[static_cast<std::size_t>(link)].above >= 0;
             link = links_[static_cast<std::size_t>(link)].above) {
            const Codes &codes = links_[static_cast<std::size_t>(link)].codes;
            closed.insert(closed.end(), codes.begin(), codes.end());
        }
        std::sort(closed.begin(), closed.end());
        const Codes &anchor = links_[static_cast<std::size_t>(link)].codes;
        std::set_difference(anchor.begin(), anchor.end(), closed.begin(), closed.end(),
                            std::back_inserter(out));
        return out;
    }
};

} // namespace hornbeam
