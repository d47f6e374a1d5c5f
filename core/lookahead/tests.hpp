// The tests of a node and their gains. Included once for each instruction set, as arena.hpp.

/// The literal expressions of the criterion "entropy": xlog(n) - (xlog(c_1) + xlog(c_2) + ...) in order.
inline double content(const double *xlog, const std::uint32_t *c, std::uint32_t classes, std::uint32_t n) {
    double sum = 0.0;
    for (std::uint32_t k = 0; k < classes; ++k) sum += xlog[c[k]];
    return xlog[n] - sum;
}
inline double gain_of(double node, double branches, std::uint32_t n) {
    const double g = (node - branches) / static_cast<double>(n);
    return g < 1e-12 ? 0.0 : g;
}

class Tests {
  public:
    explicit Tests(const SamplerSetting &setting)
        : mode_(setting.options.nominal), xlog_(setting.xlog->data()), subsets_(setting.xlog),
          cancel_(setting.cancel), ticker_(*setting.cancel) {}

    Pile<NodeTest> found;
    Pile<std::uint64_t> sides; // of subset tests

    void find(const NodeView &node, TestRange range) {
        found.size = 0;
        sides.size = 0;
        open(node);
        if (range == TestRange::all) found.reserve(all_cuts(node));
        for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
            place_ = a;
            const NodeAttribute &attribute = node.attributes[a];
            ticker_.spend(attribute.listed ? 8 * attribute.size
                                           : (1 + classes_) * attribute.columns() * node.words);
            if (!attribute.nominal)
                numeric(attribute, range);
            else
                nominal(attribute, range);
        }
    }

    /// Calls visit(sides) for each subset test of one attribute.
    template <class Visit> void each_subset(const NodeView &node, std::uint32_t attribute, Visit visit) {
        found.size = 0;
        sides.size = 0;
        open(node);
        place_ = attribute;
        nominal(node.attributes[attribute], TestRange::all);
        for (std::size_t i = 0; i < found.size; ++i) visit(sides.data + found.data[i].sides);
    }

  private:
    NominalMode mode_;
    const double *xlog_;
    const XlogTable *subsets_;
    Cancel *cancel_;
    Ticker ticker_;
    const NodeView *node_ = nullptr;
    std::uint32_t place_ = 0, classes_ = 0, n_ = 0;
    static constexpr double infinite = __builtin_inf();
    static constexpr std::uint32_t looks_every = 1u << 14; // entries of a list
    double content_ = 0.0;
    NodeTest *best_ = nullptr; // the best cut so far, where only that is asked for
    double least_ = 0.0;       // the least content of branches so far
    bool missing_ = false;     // of the attribute at hand
    std::uint32_t without_ = 0;
    Room<std::uint32_t> counts_; // all, without a value, left, two sums, then by value
    std::uint32_t *all_ = nullptr, *lost_ = nullptr, *left_ = nullptr, *one_ = nullptr, *two_ = nullptr;
    Room<std::uint32_t> table_, order_;

    static std::size_t all_cuts(const NodeView &node) {
        std::size_t cuts = 0;
        for (std::uint32_t a = 0; a < node.n_attributes; ++a)
            if (!node.attributes[a].nominal) cuts += node.attributes[a].values - 1;
        return cuts;
    }

    void open(const NodeView &node) {
        node_ = &node;
        classes_ = node.classes;
        n_ = node.n;
        all_ = counts_.ensure(5 * std::size_t{classes_});
        lost_ = all_ + classes_, left_ = lost_ + classes_, one_ = left_ + classes_, two_ = one_ + classes_;
        count(nullptr, all_);
        content_ = content(xlog_, all_, classes_, n_);
    }

    /// Rows of a column by class; of all rows without one.
    std::uint32_t count(const std::uint64_t *column, std::uint32_t *c) const {
        const std::uint64_t *of_class = node_->bits;
        const std::uint32_t words = node_->words;
        if (classes_ != 2) {
            std::uint32_t n = 0;
            for (std::uint32_t k = 0; k < classes_; ++k, of_class += words)
                n += c[k] = column == nullptr ? ones_of(of_class) : ones_of_both(column, of_class);
            return n;
        }
        const std::uint32_t n = column == nullptr ? n_ : ones_of(column);
        c[0] = column == nullptr ? ones_of(of_class) : ones_of_both(column, of_class);
        c[1] = n - c[0];
        return n;
    }
    std::uint32_t ones_of(const std::uint64_t *column) const {
        std::uint32_t n = 0;
        for (std::uint32_t w = 0; w < node_->words; ++w) n += ones(column[w]);
        return n;
    }
    std::uint32_t ones_of_both(const std::uint64_t *a, const std::uint64_t *b) const {
        std::uint32_t n = 0;
        for (std::uint32_t w = 0; w < node_->words; ++w) n += ones(a[w] & b[w]);
        return n;
    }

    NodeTest *add(TestKind kind, std::uint32_t at) {
        NodeTest *t = found.add(1);
        *t = {};
        t->place = place_;
        t->kind = kind;
        t->at = at;
        return t;
    }
    void put(NodeTest &t, double branches, std::uint32_t default_child) const {
        t.gain = gain_of(content_, branches, n_);
        t.perfect = branches == 0.0; // what is not pure has a content of 2 or more
        t.default_child = default_child;
    }
    /// Of the two branches of a test with these rows on the left, the others on the right.
    double content_left(const std::uint32_t *left, std::uint32_t n_left) const {
        double l = 0.0, r = 0.0;
        for (std::uint32_t k = 0; k < classes_; ++k) {
            l += xlog_[left[k]];
            r += xlog_[all_[k] - left[k]];
        }
        return (xlog_[n_left] - l) + (xlog_[n_ - n_left] - r);
    }
    /// The test whose rows with a value are `left` on the left: rows without one are tried on both sides.
    void score(NodeTest &t, const std::uint32_t *left, std::uint32_t n_left) const {
        if (!missing_) return put(t, content_left(left, n_left), n_left >= n_ - n_left ? 0 : 1);
        for (std::uint32_t k = 0; k < classes_; ++k) one_[k] = left[k] + lost_[k];
        const double to_left = content_left(one_, n_left + without_), to_right = content_left(left, n_left);
        if (gain_of(content_, to_right, n_) > gain_of(content_, to_left, n_))
            put(t, to_right, 1);
        else
            put(t, to_left, 0);
    }

    /// Looks at the rows without a value; returns the first column.
    const std::uint64_t *open_columns(const NodeAttribute &a) {
        const std::uint64_t *column = node_->bits + a.first;
        missing_ = a.missing;
        without_ = 0;
        if (!missing_) return column;
        without_ = count(column, lost_);
        return column + node_->words;
    }
    void open_list(const NodeAttribute &a) {
        missing_ = a.missing;
        without_ = n_ - a.size;
        if (!missing_) return;
        for (std::uint32_t k = 0; k < classes_; ++k) lost_[k] = all_[k];
        const Entry *list = node_->entries + a.first;
        for (std::uint32_t i = 0; i < a.size; ++i) --lost_[node_->code[static_cast<std::uint32_t>(list[i])]];
    }

    void numeric(const NodeAttribute &a, TestRange range) {
        best_ = range == TestRange::candidates ? add(TestKind::numeric, 0) : nullptr;
        if (best_ != nullptr) best_->gain = -1.0, least_ = infinite;
        if (a.listed)
            list_cuts(a);
        else
            column_cuts(a);
    }
    void column_cuts(const NodeAttribute &a) {
        const std::uint64_t *column = open_columns(a);
        for (std::uint32_t c = 0; c + 1 < a.values; ++c, column += node_->words) cut(c, count(column, left_));
    }
    void list_cuts(const NodeAttribute &a) {
        open_list(a);
        const Entry *list = node_->entries + a.first;
        for (std::uint32_t k = 0; k < classes_; ++k) left_[k] = 0;
        for (std::uint32_t i = 0; i + 1 < a.size; ++i) {
            ++left_[node_->code[static_cast<std::uint32_t>(list[i])]];
            if (list[i] >> 32 != list[i + 1] >> 32) cut(i + 1, i + 1);
            if (i % looks_every == looks_every - 1) ticker_.spend(looks_every * (20 + 10 * classes_));
        }
    }
    /// One more cut, with `left_` on its left: a test of its own, or the attribute's best so far.
    void cut(std::uint32_t at, std::uint32_t n_left) {
        if (best_ == nullptr) return score(*add(TestKind::numeric, at), left_, n_left);
        if (missing_) {
            NodeTest t = *best_;
            score(t, left_, n_left);
            if (t.gain > best_->gain) *best_ = t, best_->at = at;
            return;
        }
        const double branches = content_left(left_, n_left);
        if (!(branches < least_)) return; // no higher gain
        least_ = branches;
        const double before = best_->gain;
        const NodeTest held = *best_;
        put(*best_, branches, n_left >= n_ - n_left ? 0 : 1);
        if (best_->gain > before)
            best_->at = at;
        else
            *best_ = held;
    }

    void nominal(const NodeAttribute &a, TestRange range) {
        const std::uint32_t *rows = by_value(a);
        if (mode_ == NominalMode::multiway) return multiway(a, rows);
        if (mode_ == NominalMode::subset && a.values > 2) return subset(a, rows, range);
        const TestKind kind = mode_ == NominalMode::value ? TestKind::value : TestKind::subset;
        const std::uint32_t tests = a.values == 2 ? 1 : a.values;
        for (std::uint32_t v = 0; v < tests; ++v, rows += classes_) {
            NodeTest &t = *add(kind, v);
            if (kind == TestKind::subset) t.sides = left_side(1);
            score(t, rows, sum(rows));
        }
    }
    std::uint32_t sum(const std::uint32_t *c) const {
        std::uint32_t n = 0;
        for (std::uint32_t k = 0; k < classes_; ++k) n += c[k];
        return n;
    }
    std::uint64_t left_side(std::uint64_t word) {
        *sides.add(1) = word;
        return sides.size - 1;
    }

    /// Rows by value and class.
    const std::uint32_t *by_value(const NodeAttribute &a) {
        std::uint32_t *rows = table_.ensure(std::size_t{a.values} * classes_);
        if (a.listed) {
            open_list(a);
            const Entry *list = node_->entries + a.first;
            std::uint32_t *at = rows - classes_;
            for (std::uint32_t i = 0; i < a.size; ++i) {
                if (i == 0 || list[i] >> 32 != list[i - 1] >> 32) {
                    at += classes_;
                    for (std::uint32_t k = 0; k < classes_; ++k) at[k] = 0;
                }
                ++at[node_->code[static_cast<std::uint32_t>(list[i])]];
            }
            return rows;
        }
        const std::uint64_t *column = open_columns(a);
        for (std::uint32_t c = 0; c < a.columns(); ++c) count(column + c * node_->words, rows + c * classes_);
        if (a.values == 2)
            for (std::uint32_t k = 0; k < classes_; ++k)
                rows[classes_ + k] = all_[k] - rows[k] - (missing_ ? lost_[k] : 0);
        return rows;
    }

    void multiway(const NodeAttribute &a, const std::uint32_t *rows) {
        NodeTest &t = *add(TestKind::multiway, 0);
        t.branches = a.values;
        std::uint32_t largest = 0, most = 0;
        for (std::uint32_t v = 0; v < a.values; ++v)
            if (const std::uint32_t n = sum(rows + v * classes_); n > most) most = n, largest = v;
        double branches = 0.0;
        for (std::uint32_t v = 0; v < a.values; ++v) {
            const std::uint32_t *c = rows + v * classes_;
            if (missing_ && v == largest) {
                for (std::uint32_t k = 0; k < classes_; ++k) one_[k] = c[k] + lost_[k];
                c = one_;
            }
            branches += content(xlog_, c, classes_, sum(c));
        }
        put(t, branches, largest);
    }

    // ---- subsets of three or more categories ----

    void subset(const NodeAttribute &a, const std::uint32_t *rows, TestRange range) {
        if (!missing_)
            for (std::uint32_t k = 0; k < classes_; ++k) lost_[k] = 0;
        const CategoryCounts counts{rows, a.values, classes_, lost_};
        ticker_.spend((50 + 10 * std::uint64_t{classes_}) << (a.values < 12 ? a.values : 12));
        if (range == TestRange::candidates) {
            const std::uint64_t at = sides.size;
            best_subset(counts, *subsets_, *cancel_, sides.add((a.values + 63) / 64));
            return score_sides(a, rows, at);
        }
        if (a.values <= most_listed_subsets) {
            for (std::uint64_t mask = 1; mask + 1 < std::uint64_t{1} << a.values; mask += 2)
                score_sides(a, rows, left_side(mask));
            return;
        }
        std::uint32_t *order = order_.ensure(a.values);
        subset_order(counts, *subsets_, *cancel_, order);
        for (std::uint32_t length = 1; length < a.values; ++length) prefix(a, rows, order, length);
    }
    /// The side with the first category is called left.
    void prefix(const NodeAttribute &a, const std::uint32_t *rows, const std::uint32_t *order,
                std::uint32_t length) {
        const std::uint64_t at = sides.size;
        const std::uint32_t words = (a.values + 63) / 64;
        std::uint64_t *side = sides.add(words);
        for (std::uint32_t w = 0; w < words; ++w) side[w] = 0;
        bool first = false;
        for (std::uint32_t i = 0; i < length; ++i) {
            side[order[i] / 64] |= std::uint64_t{1} << order[i] % 64;
            first |= order[i] == 0;
        }
        if (!first)
            for (std::uint32_t v = 0; v < a.values; ++v) side[v / 64] ^= std::uint64_t{1} << v % 64;
        score_sides(a, rows, at);
    }
    void score_sides(const NodeAttribute &a, const std::uint32_t *rows, std::uint64_t at) {
        NodeTest &t = *add(TestKind::subset, 0);
        t.sides = at;
        const std::uint64_t *side = sides.data + at;
        for (std::uint32_t k = 0; k < classes_; ++k) two_[k] = 0;
        for (std::uint32_t v = 0; v < a.values; ++v)
            if (side[v / 64] >> v % 64 & 1)
                for (std::uint32_t k = 0; k < classes_; ++k) two_[k] += rows[v * classes_ + k];
        score(t, two_, sum(two_));
    }
};
