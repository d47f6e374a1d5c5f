// Which of the tests that the attributes enter a node takes, and which come next: the competitors.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "choice/test.hpp"
#include "criteria/c45.hpp"
#include "criteria/quest.hpp"
#include "criteria/sizes.hpp"

namespace hornbeam {

/// The best test of an attribute. One that is not admitted is never taken, but may be a competitor.
struct Entered {
    Choice *test = nullptr;
    bool admitted = true;

    bool before(const Entered &b) const {
        return admitted != b.admitted ? admitted : test->quality > b.test->quality;
    }
};

/// Most criteria: the highest quality.
template <Criterion C> void admit(std::vector<Entered> &entered, const C &criterion, const StopRules &) {
    if (!criterion.splits_at_zero)
        std::erase_if(entered, [](const Entered &e) { return e.test->quality == 0.0; });
}

/// C4.5: quality is the gain so far, and becomes the gain ratio. Only gains that are not below the average
/// are admitted.
template <class Information>
void admit(std::vector<Entered> &entered, const C45<Information> &, const StopRules &rules) {
    auto ordinary = [&](const Entered &e) {
        return rules.many_valued[static_cast<std::size_t>(e.test->attribute)] == 0;
    };
    const bool some = std::any_of(entered.begin(), entered.end(), ordinary);
    double sum = 0.0;
    std::int64_t many = 0;
    for (const Entered &e : entered)
        if (!some || ordinary(e)) sum += e.test->quality, ++many;
    constexpr double slack = C45<Information>::slack;
    const double least = sum / as_double(many) - slack;
    std::erase_if(entered, [](const Entered &e) { return !(e.test->quality > 0.0); });
    for (Entered &e : entered) {
        e.admitted = e.test->quality >= least && e.test->split > slack;
        e.test->quality /= e.test->split;
    }
}

/// The node's test out of the best ones of its attributes, given in the order of attributes and used up; ties
/// go to the lower attribute. `best.others` are the next `competitors`.
template <Criterion C> void decide(std::vector<Entered> &entered, const C &criterion, const StopRules &rules,
                                   std::size_t competitors, Choice &best) {
    admit(entered, criterion, rules);
    auto before = [](const Entered &a, const Entered &b) { return a.before(b); };
    auto first = std::min_element(entered.begin(), entered.end(), before);
    if (first == entered.end() || !first->admitted) return;
    best = std::move(*first->test);
    if (competitors == 0) return;
    entered.erase(first);
    std::stable_sort(entered.begin(), entered.end(), before);
    entered.resize(std::min(entered.size(), competitors));
    for (const Entered &e : entered) best.others.push_back(std::move(*e.test));
}

/// The attribute of the smallest p-value is selected, whatever its test; where that is not admissible (a
/// `leaf`) the node has none.
inline void decide(std::vector<Entered> &entered, const Quest &, const StopRules &, std::size_t competitors,
                   Choice &best) {
    auto surer = [](const Entered &a, const Entered &b) { return a.test->quality > b.test->quality; };
    auto first = std::min_element(entered.begin(), entered.end(), surer);
    if (first == entered.end() || first->test->kind == TestKind::leaf) return;
    best = std::move(*first->test);
    entered.erase(first);
    std::erase_if(entered, [](const Entered &e) { return e.test->kind == TestKind::leaf; });
    std::stable_sort(entered.begin(), entered.end(), surer);
    entered.resize(std::min(entered.size(), competitors));
    for (const Entered &e : entered) best.others.push_back(std::move(*e.test));
}

} // namespace hornbeam
