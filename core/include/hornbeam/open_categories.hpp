// Which categories can be present at a node, and the brief form of value tests that follows from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "hornbeam/forest.hpp"
#include "hornbeam/test.hpp"

namespace hornbeam {

/// One attribute that was tested above, for one training set: `n` categories are open, namely those that the
/// last test of it sends here. An attribute without such a note writes its next test in full.
struct OpenNote {
    std::int32_t attribute = -1;
    std::int32_t link = -1;
    std::int64_t n = 0;
    bool tested_here = false; // the node itself tests it: the note is that of its child 1
};

/// Writes the branches of nominal tests to the forest. A chain of value tests would write every category
/// present again at each node; the brief form of FlatTree writes what is no longer there.
class OpenCategories {
  public:
    /// Writes the test that a set takes at a node, and puts down in `notes` what it leaves open.
    void record(Forest &forest, LaneRecord &r, const Choice &c, std::vector<OpenNote> &notes) {
        r.branch_begin = forest.branch_code.size();
        auto put = [&](std::int32_t code, std::int32_t child) {
            forest.branch_code.push_back(code);
            forest.branch_child.push_back(child);
        };
        if (c.kind != TestKind::value) {
            for (auto [code, child] : c.branches) put(code, child);
        } else {
            auto note = std::find_if(notes.begin(), notes.end(),
                                     [&](const OpenNote &o) { return o.attribute == c.attribute; });
            if (note == notes.end()) note = notes.insert(notes.end(), OpenNote{c.attribute});
            const auto present = static_cast<std::int64_t>(c.branches.size());
            const bool brief = c.default_child == 1 && note->n - present + 1 < present && note->n > 0;
            std::vector<std::int32_t> codes = brief ? closed_by(c, *note) : others_of(c);
            if (brief) {
                std::int32_t value = value_of(c);
                for (std::int32_t code : codes) put(code, code == value ? 0 : -1);
            } else {
                for (auto [code, child] : c.branches) put(code, child);
            }
            links_.push_back({std::move(codes), brief ? note->link : -1});
            *note = {c.attribute, static_cast<std::int32_t>(links_.size()) - 1, present - 1, true};
        }
        r.branch_end = forest.branch_code.size();
    }

    /// The notes of a child. Where a value test holds a single category is left, and no test can follow.
    static std::vector<OpenNote> inherited(const std::vector<OpenNote> &notes, std::size_t child) {
        std::vector<OpenNote> out;
        for (OpenNote note : notes) {
            if (note.tested_here && child == 0) continue;
            note.tested_here = false;
            out.push_back(note);
        }
        return out;
    }

    /// The notes of a node of `rows` rows that is grown on here, put down over there. Where more than twice
    /// as many categories are open as can be present, the next test is written in full anyway.
    std::vector<OpenNote> adopted(const OpenCategories &there, const std::vector<OpenNote> &notes,
                                  std::size_t rows) {
        std::vector<OpenNote> out;
        for (const OpenNote &note : notes) {
            if (note.n >= 2 * static_cast<std::int64_t>(rows)) continue;
            links_.push_back({there.open(note.link), -1});
            out.push_back({note.attribute, static_cast<std::int32_t>(links_.size()) - 1, note.n, false});
        }
        return out;
    }

  private:
    /// `codes` are open, or, where a link is above, no longer open of those.
    struct Link {
        std::vector<std::int32_t> codes; // ascending
        std::int32_t above = -1;
    };
    std::vector<Link> links_;

    static std::int32_t value_of(const Choice &c) {
        return std::find_if(c.branches.begin(), c.branches.end(), [](auto b) { return b.second == 0; })
            ->first;
    }
    static std::vector<std::int32_t> others_of(const Choice &c) {
        std::vector<std::int32_t> codes;
        for (auto [code, child] : c.branches)
            if (child == 1) codes.push_back(code);
        return codes;
    }
    /// The value itself and the open categories that are not present, ascending.
    std::vector<std::int32_t> closed_by(const Choice &c, const OpenNote &note) const {
        if (note.n == static_cast<std::int64_t>(c.branches.size())) return {value_of(c)};
        std::vector<std::int32_t> before = open(note.link), stay = others_of(c), codes;
        std::set_difference(before.begin(), before.end(), stay.begin(), stay.end(),
                            std::back_inserter(codes));
        return codes;
    }
    std::vector<std::int32_t> open(std::int32_t link) const {
        std::vector<std::int32_t> closed, out;
        for (; links_[static_cast<std::size_t>(link)].above >= 0;
             link = links_[static_cast<std::size_t>(link)].above) {
            const auto &codes = links_[static_cast<std::size_t>(link)].codes;
            closed.insert(closed.end(), codes.begin(), codes.end());
        }
        std::sort(closed.begin(), closed.end());
        const auto &anchor = links_[static_cast<std::size_t>(link)].codes;
        std::set_difference(anchor.begin(), anchor.end(), closed.begin(), closed.end(),
                            std::back_inserter(out));
        return out;
    }
};

} // namespace hornbeam
