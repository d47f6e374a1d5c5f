// The known rows of a nominal attribute at a node, counted by category and class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace hornbeam {

/// [category][class]; no category and no class is without rows.
struct Contingency {
    std::size_t n_categories = 0, n_classes = 0;
    std::vector<std::int64_t> cell;
    std::vector<std::int64_t> category, klass; // sums
    std::int64_t n = 0;

    std::int64_t df() const {
        return static_cast<std::int64_t>(n_categories - 1) * static_cast<std::int64_t>(n_classes - 1);
    }
    /// n * n_jk - n_j * c_k.
    double excess(std::size_t j, std::size_t k) const {
        return static_cast<double>(static_cast<__int128>(n) * cell[j * n_classes + k] -
                                   static_cast<__int128>(category[j]) * klass[k]);
    }
};

/// The categories found, ascending, with a row of counts for each: of all classes, present or not.
class CategoryCounts {
  public:
    std::vector<std::int32_t> code;
    std::vector<std::int64_t> count;

    explicit CategoryCounts(std::size_t n_classes) : n_classes_(n_classes) {}

    std::span<const std::int64_t> of(std::size_t j) const {
        return std::span(count).subspan(j * n_classes_, n_classes_);
    }
    /// From a row of counts for each category, `width` apart.
    void read(const std::uint32_t *counts, std::uint32_t n_categories, std::size_t width) {
        code.clear();
        count.clear();
        for (std::uint32_t j = 0; j < n_categories; ++j, counts += width) {
            if (std::all_of(counts, counts + n_classes_, [](std::uint32_t c) { return c == 0; })) continue;
            code.push_back(static_cast<std::int32_t>(j));
            count.insert(count.end(), counts, counts + n_classes_);
        }
    }
    /// From rows: each(visit) calls visit(category, class, times) for every one that has a category, the same
    /// when it is called again. Time and room follow the rows, not the categories that there are elsewhere.
    template <class Each> void gather(std::int32_t n_categories, Each each) {
        if (place_.size() < static_cast<std::size_t>(n_categories))
            place_.resize(static_cast<std::size_t>(n_categories), -1);
        code.clear();
        each([&](std::int32_t category, std::size_t, std::int64_t) {
            std::int32_t &place = place_[static_cast<std::size_t>(category)];
            if (place < 0) place = 0, code.push_back(category);
        });
        std::sort(code.begin(), code.end());
        for (std::size_t j = 0; j < code.size(); ++j)
            place_[static_cast<std::size_t>(code[j])] = static_cast<std::int32_t>(j);
        count.assign(code.size() * n_classes_, 0);
        each([&](std::int32_t category, std::size_t k, std::int64_t times) {
            count[static_cast<std::size_t>(place_[static_cast<std::size_t>(category)]) * n_classes_ + k] +=
                times;
        });
        for (std::int32_t category : code) place_[static_cast<std::size_t>(category)] = -1;
    }
    /// Sums by class into `known`, and the table without classes that have no rows; false where fewer than
    /// two categories or classes are left.
    bool tell(std::vector<std::int64_t> &known, Contingency &table) const {
        std::fill(known.begin(), known.end(), 0);
        for (std::size_t i = 0; i < count.size(); ++i) known[i % n_classes_] += count[i];
        table.klass.clear();
        for (std::int64_t c : known)
            if (c != 0) table.klass.push_back(c);
        table.n_categories = code.size();
        table.n_classes = table.klass.size();
        table.n = std::accumulate(known.begin(), known.end(), std::int64_t{0});
        table.cell.clear();
        table.category.clear();
        for (std::size_t j = 0; j < code.size(); ++j) {
            const auto row = of(j);
            for (std::size_t k = 0; k < n_classes_; ++k)
                if (known[k] != 0) table.cell.push_back(row[k]);
            table.category.push_back(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
        }
        return table.n_categories >= 2 && table.n_classes >= 2;
    }

  private:
    std::size_t n_classes_;
    std::vector<std::int32_t> place_; // of each category in `code`; -1 between calls
};

} // namespace hornbeam
