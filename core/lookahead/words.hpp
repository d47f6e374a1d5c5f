// Sampling below nodes of at most 64 rows, where a column is one word and all that is left of an attribute is
// its columns. Included once for each instruction set, as arena.hpp.

class WordSampler {
  public:
    explicit WordSampler(const SamplerSetting &setting)
        : mode_(setting.options.nominal), endings_on_(setting.options.endings), xlog_(setting.xlog->data()),
          ticker_(*setting.cancel), endings_(mode_) {
        const std::size_t known = setting.xlog->size();
        for (std::uint32_t a = 0; a <= 64; ++a)
            for (std::uint32_t b = 0; a + b <= 64 && a + b < known; ++b)
                two_classes_[65 * a + b] = xlog_[a + b] - (xlog_[a] + xlog_[b]);
    }

    /// Whether every test that a sample may draw here is a column: two branches, nothing missing.
    bool takes(const NodeView &node) const {
        if (node.words != 1 || node.lists) return false;
        for (std::uint32_t a = 0; a < node.n_attributes; ++a) {
            const NodeAttribute &x = node.attributes[a];
            if (x.missing || (x.nominal && x.values > 2 && mode_ != NominalMode::value)) return false;
        }
        return true;
    }

    /// The size of the tree sampled below a node that is no leaf, or any number from `limit`.
    std::uint32_t size(const NodeView &from, std::uint64_t key, std::uint32_t limit) {
        Words node{nullptr, nullptr, 0, from.n_attributes, from.n, from.classes, true};
        for (std::uint32_t a = 0; a < from.n_attributes; ++a) node.tests += from.attributes[a].columns();
        const std::uint32_t columns = node.class_columns() + node.tests;
        // The node, and halves of it: rows halve six times at most.
        node.columns = columns_.ensure(8 * (std::size_t{columns} + 1));
        node.groups = groups_.ensure(8 * (std::size_t{node.n_groups} + 1));
        gain_.ensure(columns);
        candidate_.ensure(columns);
        for (std::uint32_t c = 0; c < node.class_columns(); ++c) node.columns[c] = from.bits[c];
        std::uint64_t *to = node.of_tests();
        for (std::uint32_t a = 0; a < from.n_attributes; ++a) {
            const NodeAttribute &x = from.attributes[a];
            node.groups[a] = {static_cast<std::uint16_t>(x.columns()), x.nominal};
            node.single &= x.columns() == 1;
            for (std::uint32_t c = 0; c < x.columns(); ++c) *to++ = from.bits[x.first + c];
        }
        return run(node, key, limit);
    }

  private:
    /// The columns of one attribute.
    struct Group {
        std::uint16_t columns;
        bool nominal;
    };
    /// Columns of classes (of two the first), then of tests.
    struct Words {
        std::uint64_t *columns;
        Group *groups;
        std::uint32_t tests, n_groups, n, classes;
        bool single; // every attribute has one column: groups are not looked at
        std::uint32_t class_columns() const { return classes == 2 ? 1 : classes; }
        std::uint64_t *of_tests() const { return columns + class_columns(); }
        std::uint64_t *end() const { return of_tests() + tests; }
    };

    NominalMode mode_;
    bool endings_on_;
    const double *xlog_;
    Ticker ticker_;
    Endings endings_;
    double two_classes_[65 * 65]; // content of rows of two classes
    Room<std::uint64_t> columns_;
    Room<Group> groups_;
    Room<double> gain_;
    Room<std::uint32_t> candidate_;

    std::uint32_t run(Words node, std::uint64_t key, std::uint32_t limit) {
        std::uint32_t done = 0;
        for (;;) {
            ticker_.spend(100 + 8 * node.tests);
            const std::uint64_t all = full(node.n);
            if (node.classes == 2 && perfect(node, all)) return done + 2;
            if (endings_on_)
                if (const std::uint32_t size =
                        endings_(node.of_tests(), node.tests, node.columns, node.classes, all))
                    return done + size;
            const std::uint64_t left = node.of_tests()[drawn(node, unit(mix(key, 0)))], right = all & ~left;
            const bool left_pure = pure(node, left), right_pure = pure(node, right);
            std::uint32_t stay = right_pure || (!left_pure && ones(left) > ones(right)) ? 0 : 1;
            if (left_pure || right_pure) {
                if (++done + 1 >= limit) return limit;
            } else {
                if (done + 2 >= limit) return limit;
                const Words child =
                    part(node, stay == 0 ? right : left, node.end(), node.groups + node.n_groups);
                done += child.tests == 0
                            ? 1
                            : run(child, mix(key, 2 - stay), limit == no_limit ? no_limit : limit - done - 1);
                if (done + 1 >= limit) return limit;
            }
            node = part(node, stay == 0 ? left : right, node.columns, node.groups);
            if (node.tests == 0) return done + 1;
            key = mix(key, 1 + stay);
        }
    }

    static bool pure(const Words &node, std::uint64_t rows) {
        if (node.classes == 2) return (rows & node.columns[0]) == 0 || (rows & ~node.columns[0]) == 0;
        for (std::uint32_t k = 0;; ++k)
            if ((rows & node.columns[k]) != 0) return (rows & ~node.columns[k]) == 0;
    }
    /// Whether a test agrees with the class everywhere or nowhere.
    static bool perfect(const Words &node, std::uint64_t all) {
        const std::uint64_t *tests = node.of_tests();
        std::uint64_t found = 0;
        for (std::uint32_t t = 0; t < node.tests; ++t) {
            const std::uint64_t differs = tests[t] ^ node.columns[0];
            found |= static_cast<std::uint64_t>(differs == 0) | static_cast<std::uint64_t>(differs == all);
        }
        return found != 0;
    }

    // ---- the draw ----

    std::uint32_t drawn(const Words &node, double draw) {
        double *gain = gain_.data;
        node.classes == 2 ? gains_of_two(node) : gains_of_many(node);
        const std::uint32_t n = node.single ? node.tests : candidates(node);
        double total = 0.0, sum = 0.0;
        for (std::uint32_t i = 0; i < n; ++i) total += gain[i] += draw_weight;
        const double x = draw * total;
        std::uint32_t i = 0;
        while (i + 1 < n && !((sum += gain[i]) > x)) ++i;
        return node.single ? i : candidate_.data[i];
    }
    void gains_of_two(const Words &node) {
        const std::uint64_t *tests = node.of_tests(), of_class = node.columns[0];
        const std::uint32_t a = ones(of_class), b = node.n - a;
        double *gain = gain_.data;
        for (std::uint32_t t = 0; t < node.tests; ++t) {
            const std::uint32_t first = ones(tests[t] & of_class), second = ones(tests[t]) - first;
            gain[t] = two_classes_[65 * first + second] + two_classes_[65 * (a - first) + b - second];
        }
        finish(two_classes_[65 * a + b], node);
    }
    void gains_of_many(const Words &node) {
        const std::uint64_t *tests = node.of_tests();
        double *gain = gain_.data, sum = 0.0;
        for (std::uint32_t k = 0; k < node.classes; ++k) sum += xlog_[ones(node.columns[k])];
        for (std::uint32_t t = 0; t < node.tests; ++t) {
            double left = 0.0, right = 0.0;
            std::uint32_t n = 0;
            for (std::uint32_t k = 0; k < node.classes; ++k) {
                const std::uint32_t c = ones(tests[t] & node.columns[k]);
                n += c;
                left += xlog_[c];
                right += xlog_[ones(node.columns[k]) - c];
            }
            gain[t] = (xlog_[n] - left) + (xlog_[node.n - n] - right);
        }
        finish(xlog_[node.n] - sum, node);
    }
    /// From the contents of branches.
    void finish(double content, const Words &node) {
        double *gain = gain_.data;
        const double n = static_cast<double>(node.n);
        for (std::uint32_t t = 0; t < node.tests; ++t) {
            const double g = (content - gain[t]) / n;
            gain[t] = g < 1e-12 ? 0.0 : g;
        }
    }
    /// Every column of categories, and the best cut of each numeric attribute: moves their gains together.
    std::uint32_t candidates(const Words &node) {
        double *gain = gain_.data;
        std::uint32_t n = 0, at = 0;
        for (std::uint32_t g = 0; g < node.n_groups; ++g) {
            const std::uint32_t end = at + node.groups[g].columns;
            if (node.groups[g].nominal) {
                for (; at < end; ++at) candidate_.data[n] = at, gain[n++] = gain[at];
                continue;
            }
            std::uint32_t best = at;
            for (std::uint32_t t = at + 1; t < end; ++t)
                if (gain[t] > gain[best]) best = t;
            candidate_.data[n] = best, gain[n++] = gain[best];
            at = end;
        }
        return n;
    }

    // ---- the branches ----

    /// The rows of a mask; may overwrite the node where it begins there.
    Words part(const Words &from, std::uint64_t mask, std::uint64_t *columns, Group *groups) {
        Words to{columns, groups, 0, 0, ones(mask), from.classes, from.single};
        const std::uint64_t *tests = from.of_tests();
        const std::uint64_t all = full(to.n);
        if (from.classes == 2) {
            columns[0] = gather_bits(from.columns[0], mask);
        } else {
            to.classes = 0;
            for (std::uint32_t k = 0; k < from.classes; ++k)
                if (const std::uint64_t x = gather_bits(from.columns[k], mask)) columns[to.classes++] = x;
        }
        std::uint64_t *out = to.of_tests();
        if (from.single) {
            for (std::uint32_t t = 0; t < from.tests; ++t) {
                const std::uint64_t x = gather_bits(tests[t], mask);
                out[to.tests] = x;
                to.tests += x != 0 && x != all;
            }
            to.n_groups = to.tests;
            return to;
        }
        to.single = true;
        for (std::uint32_t g = 0; g < from.n_groups; ++g) {
            const Group group = from.groups[g];
            const std::uint32_t kept = part_group(group, tests, mask, all, out + to.tests);
            tests += group.columns;
            if (kept == 0) continue;
            to.tests += kept;
            to.single &= kept == 1;
            groups[to.n_groups++] = {static_cast<std::uint16_t>(kept), group.nominal};
        }
        return to;
    }
    static std::uint32_t part_group(const Group &group, const std::uint64_t *tests, std::uint64_t mask,
                                    std::uint64_t all, std::uint64_t *out) {
        std::uint32_t kept = 0;
        std::uint64_t last = 0;
        for (std::uint32_t c = 0; c < group.columns; ++c) {
            const std::uint64_t x = gather_bits(tests[c], mask);
            if (x == last || x == all) continue; // no category left, or the same cut again
            out[kept++] = x;
            if (!group.nominal) last = x;
        }
        return group.nominal && group.columns > 1 && kept == 2 ? 1 : kept;
    }
};
