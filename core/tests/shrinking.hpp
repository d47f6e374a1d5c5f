// Smaller cases that go wrong as a large one does, step by step.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "random_case.hpp"

/// What is taken out of a case: rows `from` to before `to`, one set, one column, or one setting; or a limit
/// of the depth, or the competitors.
struct Step {
    enum class What { rows, set, column, setting, depth, competitors };
    What what = What::rows;
    std::size_t from = 0, to = 0;

    /// As a word of a command: "rows=10-20", "set=3".
    std::string text() const;
    static std::optional<Step> read(const std::string &text);
};

/// Takes the step; false where the case has nothing to take it from, or would have a set without rows.
bool take_out(Case &given, const Step &step);

/// Steps after which the case still fails; none of the steps that would be next leaves it failing.
std::vector<Step> shrink(Case given, const std::function<bool(const Case &)> &fails);
