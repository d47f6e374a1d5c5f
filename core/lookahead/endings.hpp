// Trees of 3 or 4 leaves on nodes of at most 64 rows, found exactly. Included once for each instruction set,
// as arena.hpp.

class Endings {
  public:
    static constexpr std::uint32_t most_tests = 64;

    explicit Endings(NominalMode mode) : mode_(mode) {}

    /// 4 or 3 where a test leads to branches that are pure or have a test whose branches are; 0 otherwise,
    /// and where it is not asked: more than 64 rows or tests, missing values, tests of more branches. The
    /// node has columns, and no test of it has only pure branches. `tests` finds the prefixes of many
    /// categories.
    std::uint32_t operator()(const NodeView &node, Tests &tests) {
        if (node.n > 64 || !read(node, tests)) return 0;
        return search(node.bits, node.classes, full(node.n));
    }
    /// The same where each of `n` columns is a test, and there are no others.
    std::uint32_t operator()(const std::uint64_t *columns, std::uint32_t n, const std::uint64_t *of_class,
                             std::uint32_t classes, std::uint64_t all) {
        if (n > most_tests) return 0;
        many_.size = 0;
        left_ = columns, n_ = n;
        return search(of_class, classes, all);
    }

  private:
    std::uint32_t search(const std::uint64_t *of_class, std::uint32_t classes, std::uint64_t all) {
        if (classes > 4) return 0;
        classes_ = classes;
        of_class_ = of_class;
        std::uint32_t least = 0;
        for (std::uint32_t t = 0; t < n_; ++t) {
            const std::uint32_t left = leaves(all & left_[t]);
            if (left == 0) continue;
            const std::uint32_t right = leaves(all & ~left_[t]);
            if (right == 0) continue;
            if (left + right == 3) return 3;
            least = 4;
        }
        return least;
    }

    NominalMode mode_;
    std::uint32_t n_ = 0, classes_ = 0;
    const std::uint64_t *left_ = nullptr;
    const std::uint64_t *of_class_ = nullptr;
    std::uint64_t listed_[most_tests];
    /// Nominal attributes of many categories: their columns, and how many.
    struct Many {
        const std::uint64_t *columns;
        std::uint32_t values;
    };
    Pile<Many> many_;

    /// Finds the left rows of every test; false where the ending is not asked.
    bool read(const NodeView &node, Tests &tests) {
        std::uint64_t all = 0;
        bool plain = true; // the columns are the tests
        many_.size = 0;
        for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
            const NodeAttribute &x = node.attributes[a];
            if (x.missing || (x.nominal && x.values > 2 && mode_ == NominalMode::multiway)) return false;
            const bool subsets = x.nominal && x.values > 2 && mode_ == NominalMode::subset;
            plain &= !subsets;
            if (!subsets)
                all += x.columns();
            else
                all += x.values > most_listed_subsets ? x.values - 1 : (1u << (x.values - 1)) - 1;
            if (all > most_tests) return false;
        }
        n_ = static_cast<std::uint32_t>(all);
        left_ = node.bits + node.attributes[0].first;
        if (!plain) read_subsets(node, tests);
        return true;
    }
    void read_subsets(const NodeView &node, Tests &tests) {
        std::uint32_t n = 0;
        for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
            const NodeAttribute &x = node.attributes[a];
            const std::uint64_t *column = node.bits + x.first;
            if (!x.nominal || x.values == 2) {
                for (std::uint32_t c = 0; c < x.columns(); ++c) listed_[n++] = column[c];
                continue;
            }
            if (x.values > most_listed_subsets) *many_.add(1) = {column, x.values};
            tests.each_subset(node, a, [&](const std::uint64_t *side) {
                std::uint64_t left = 0;
                for (std::uint32_t v = 0; v < x.values; ++v)
                    if (side[v / 64] >> v % 64 & 1) left |= column[v];
                listed_[n++] = left;
            });
        }
        left_ = listed_;
    }

    /// The rows of the class of the first row of a set.
    std::uint64_t class_of_first(std::uint64_t rows) const {
        const std::uint64_t first = rows & -rows;
        if (classes_ == 2) return (of_class_[0] & first) != 0 ? of_class_[0] : ~of_class_[0];
        for (std::uint32_t k = 0;; ++k)
            if ((of_class_[k] & first) != 0) return of_class_[k];
    }
    /// The leaves of the smallest tree for some rows: 1, 2, or 0 for more.
    std::uint32_t leaves(std::uint64_t rows) const {
        const std::uint64_t one = class_of_first(rows), others = rows & ~one;
        if (others == 0) return 1;
        if (classes_ > 2 && (others & ~class_of_first(others)) != 0) return 0;
        // A test that agrees with the class everywhere, or nowhere, tells the two classes apart.
        std::uint64_t apart = 0;
        for (std::uint32_t t = 0; t < n_; ++t) {
            const std::uint64_t differs = (left_[t] ^ one) & rows;
            apart |= static_cast<std::uint64_t>(differs == 0) | static_cast<std::uint64_t>(differs == rows);
        }
        if (apart != 0) return 2;
        for (std::size_t i = 0; i < many_.size; ++i)
            if (told_apart(many_.data[i], rows, one)) return 2;
        return 0;
    }
    static bool told_apart(const Many &x, std::uint64_t rows, std::uint64_t one) {
        for (std::uint32_t v = 0; v < x.values; ++v) {
            const std::uint64_t here = x.columns[v] & rows;
            if ((here & one) != 0 && (here & ~one) != 0) return false;
        }
        return true;
    }
};
