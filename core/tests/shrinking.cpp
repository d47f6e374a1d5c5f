#include "shrinking.hpp"

#include <algorithm>
#include <cstdio>

using namespace hornbeam;

namespace {

constexpr const char *names[] = {"rows", "set", "column", "setting", "depth", "competitors"};

template <class T>
void drop(std::vector<T> &from, std::size_t begin, std::size_t end, std::size_t width = 1) {
    if (from.empty()) return;
    const auto at = [&](std::size_t i) { return from.begin() + static_cast<std::ptrdiff_t>(i * width); };
    from.erase(at(begin), at(end));
}

void drop_rows(Case &given, std::size_t begin, std::size_t end) {
    given.n_rows -= end - begin;
    drop(given.classes, begin, end);
    drop(given.weights, begin, end);
    drop(given.values, begin, end, given.n_targets);
    drop(given.times, begin, end, given.n_sets);
    for (RawColumn &column : given.columns)
        if (auto *floats = std::get_if<std::vector<double>>(&column)) {
            drop(*floats, begin, end);
        } else if (auto *whole = std::get_if<Integers>(&column)) {
            drop(whole->values, begin, end);
            drop(whole->missing, begin, end);
        } else {
            drop(std::get<Categories>(column).codes, begin, end);
        }
}

void drop_set(Case &given, std::size_t set) {
    std::vector<std::uint8_t> kept;
    for (std::size_t i = 0; i < given.times.size(); ++i)
        if (i % given.n_sets != set) kept.push_back(given.times[i]);
    given.times = std::move(kept);
    --given.n_sets;
}

bool all_sets_have_rows(const Case &given) {
    for (std::size_t s = 0; s < given.n_sets; ++s) {
        bool some = false;
        for (std::size_t row = 0; row < given.n_rows && !some; ++row)
            some = given.times[row * given.n_sets + s] != 0;
        if (!some) return false;
    }
    return given.n_rows > 0;
}

/// Takes a step if the case still fails after it.
class Shrinking {
  public:
    Shrinking(Case given, const std::function<bool(const Case &)> &fails)
        : now_(std::move(given)), fails_(fails) {}

    std::vector<Step> steps() {
        for (std::size_t before = steps_.size() + 1; before != steps_.size();) {
            before = steps_.size();
            each(Step::What::set, now_.n_sets);
            each(Step::What::column, now_.columns.size());
            each(Step::What::setting, now_.parameters.settings.size());
            take({Step::What::competitors, 0, 0});
            for (std::size_t depth = 1; depth < 4 && !take({Step::What::depth, depth, 0}); ++depth) continue;
            rows();
        }
        return steps_;
    }

  private:
    Case now_;
    const std::function<bool(const Case &)> &fails_;
    std::vector<Step> steps_;

    bool take(const Step &step) {
        Case smaller = now_;
        if (!take_out(smaller, step) || !fails_(smaller)) return false;
        now_ = std::move(smaller);
        steps_.push_back(step);
        return true;
    }
    /// The last first, so that the numbers of the others stay.
    void each(Step::What what, std::size_t many) {
        for (std::size_t i = many; i-- > 0;) take({what, i, 0});
    }
    /// Halves, then quarters, down to single rows.
    void rows() {
        for (std::size_t size = (now_.n_rows + 1) / 2; size > 0; size /= 2)
            for (std::size_t begin = 0; begin < now_.n_rows;)
                if (!take({Step::What::rows, begin, std::min(begin + size, now_.n_rows)})) begin += size;
    }
};

} // namespace

std::string Step::text() const {
    const std::string name = names[static_cast<int>(what)];
    return name + "=" + std::to_string(from) + (what == What::rows ? "-" + std::to_string(to) : "");
}

std::optional<Step> Step::read(const std::string &text) {
    for (int i = 0; i < 6; ++i) {
        const std::string name = std::string(names[i]) + "=";
        if (text.rfind(name, 0) != 0) continue;
        Step step{static_cast<What>(i), 0, 0};
        if (std::sscanf(text.c_str() + name.size(), "%zu-%zu", &step.from, &step.to) < 1) return {};
        return step;
    }
    return {};
}

bool take_out(Case &given, const Step &step) {
    GrowParameters &parameters = given.parameters;
    switch (step.what) {
    case Step::What::rows:
        if (step.from >= step.to || step.to > given.n_rows || step.to - step.from == given.n_rows)
            return false;
        drop_rows(given, step.from, step.to);
        return all_sets_have_rows(given);
    case Step::What::set:
        if (given.n_sets < 2 || step.from >= given.n_sets) return false;
        drop_set(given, step.from);
        return true;
    case Step::What::column:
        if (given.columns.size() < 2 || step.from >= given.columns.size()) return false;
        drop(given.columns, step.from, step.from + 1);
        return true;
    case Step::What::setting:
        if (parameters.settings.size() < 2 || step.from >= parameters.settings.size()) return false;
        drop(parameters.settings, step.from, step.from + 1);
        return true;
    case Step::What::depth: {
        const auto depth = static_cast<std::int64_t>(step.from);
        if (parameters.max_depth >= 0 && parameters.max_depth <= depth) return false;
        parameters.max_depth = depth;
        return true;
    }
    case Step::What::competitors:
        if (parameters.competitors == 0) return false;
        parameters.competitors = 0;
        return true;
    }
    return false;
}

std::vector<Step> shrink(Case given, const std::function<bool(const Case &)> &fails) {
    return Shrinking(std::move(given), fails).steps();
}
