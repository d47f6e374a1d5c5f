// The node of some rows of a table, from the columns as the grower has them.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "lookahead/lookahead.hpp"

namespace hornbeam {
namespace {

/// Columns of bits pay where counting them is less than running through a list.
bool counts_bits(std::size_t n, std::size_t values, std::size_t classes) {
    return n <= 64 || values * classes <= 64;
}

class RootNode {
  public:
    RootNode(std::size_t n, bool fast, Cancel &cancel)
        : n_(n), words_((n + 63) / 64), fast_(fast), cancel_(cancel) {}

    void add_classes(std::span<const std::int32_t> rows, std::span<const ClassCode> classes,
                     std::size_t n_classes) {
        std::vector<std::int32_t> local(n_classes, -1);
        for (std::int32_t row : rows) local[classes[static_cast<std::size_t>(row)]] = 0;
        for (std::int32_t &k : local)
            if (k == 0) k = static_cast<std::int32_t>(n_present_++);
        code_.reserve(n_);
        for (std::int32_t row : rows)
            code_.push_back(static_cast<std::uint16_t>(local[classes[static_cast<std::size_t>(row)]]));
        const std::size_t columns = n_present_ == 2 ? 1 : n_present_;
        bits_.assign(columns * words_, 0);
        for (std::size_t i = 0; i < n_; ++i)
            if (code_[i] < columns) set(code_[i] * words_, i);
    }

    /// Whether an attribute of so many values becomes columns, whatever values are there.
    bool takes_bits(std::size_t n_values) const {
        return fast_ && n_values <= 64 && counts_bits(n_, n_values, n_present_);
    }
    /// The same without sorting. `value_of` gives -1 where the value is missing.
    template <class ValueOf>
    void add_bits(std::int32_t attribute, bool nominal, std::size_t n_values, ValueOf value_of) {
        value_bits_.assign((n_values + 1) * words_, 0); // first the missing
        std::array<std::uint64_t, 65> here;
        for (std::size_t w = 0; w < words_; ++w) {
            std::fill_n(here.begin(), n_values + 1, std::uint64_t{0});
            const std::size_t end = std::min(n_, 64 * w + 64);
            for (std::size_t i = 64 * w; i < end; ++i)
                here[static_cast<std::size_t>(value_of(i) + 1)] |= std::uint64_t{1} << i % 64;
            for (std::size_t v = 0; v <= n_values; ++v) value_bits_[v * words_ + w] = here[v];
        }
        NodeAttribute a;
        a.attribute = attribute;
        a.nominal = nominal;
        a.first = bits_.size();
        a.missing = append_if_any(0);
        for (std::size_t v = 1; v <= n_values; ++v) a.values += append_if_any(v);
        if (a.values < 2) return bits_.resize(a.first);
        bits_.resize(a.first + (a.columns() + a.missing) * words_);
        if (!nominal) add_up(a);
        attributes_.push_back(a);
    }

    /// `sorted`: the rows with a value by value and row.
    void add(std::int32_t attribute, bool nominal, std::vector<Entry> sorted) {
        std::size_t values = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i)
            values += i == 0 || rank_of(sorted[i]) != rank_of(sorted[i - 1]);
        if (values < 2) return;
        NodeAttribute a;
        a.attribute = attribute;
        a.nominal = nominal;
        a.missing = sorted.size() != n_;
        a.values = static_cast<std::uint32_t>(values);
        a.listed = !fast_ || !counts_bits(n_, values, n_present_);
        if (a.listed) {
            a.first = n_entries_;
            a.size = static_cast<std::uint32_t>(sorted.size());
            n_entries_ += sorted.size();
            lists_.push_back(std::move(sorted));
        } else {
            a.first = bits_.size();
            add_columns(a, sorted);
        }
        attributes_.push_back(a);
    }

    OwnNode finish() const {
        const bool lists = !lists_.empty();
        OwnNode node({attributes_.size(), bits_.size(), n_entries_, lists ? n_ : 0});
        std::copy(attributes_.begin(), attributes_.end(), node.attributes.get());
        copy(bits_, node.bits.get());
        Entry *to = node.entries.get();
        for (const std::vector<Entry> &list : lists_) to = copy(list, to);
        if (lists) copy(code_, node.code.get());
        node.view.n = static_cast<std::uint32_t>(n_);
        node.view.words = static_cast<std::uint32_t>(words_);
        node.view.classes = n_present_;
        node.view.n_attributes = static_cast<std::uint32_t>(attributes_.size());
        node.view.lists = lists;
        node.view.n_bits = bits_.size();
        node.view.n_entries = n_entries_;
        return node;
    }

  private:
    std::size_t n_, words_;
    bool fast_;
    Cancel &cancel_;
    std::uint32_t n_present_ = 0;
    std::vector<std::uint16_t> code_;
    std::vector<NodeAttribute> attributes_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint64_t> value_bits_; // of one attribute, by value
    std::vector<std::vector<Entry>> lists_; // of the attributes that are listed
    std::size_t n_entries_ = 0;

    /// Returns where the copy ends.
    template <class T> T *copy(const std::vector<T> &from, T *to) const {
        in_stretches(from.size(), cancel_, [&](std::size_t begin, std::size_t end) {
            std::copy_n(from.data() + begin, end - begin, to + begin);
        });
        return to + from.size();
    }
    void set(std::size_t word, std::size_t row) { bits_[word + row / 64] |= std::uint64_t{1} << row % 64; }

    void add_columns(const NodeAttribute &a, std::span<const Entry> sorted) {
        const std::size_t lost = a.missing ? words_ : 0;
        bits_.resize(a.first + lost + a.columns() * words_, 0);
        if (a.missing) {
            std::vector<std::uint8_t> known(n_, 0);
            for (Entry e : sorted) known[row_of(e)] = 1;
            for (std::size_t i = 0; i < n_; ++i)
                if (known[i] == 0) set(a.first, i);
        }
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            value += i > 0 && rank_of(sorted[i]) != rank_of(sorted[i - 1]);
            if (value < a.columns()) set(a.first + lost + value * words_, row_of(sorted[i]));
        }
        if (!a.nominal) add_up(a);
    }
    /// Columns of single values become those of values up to each.
    void add_up(const NodeAttribute &a) {
        for (std::size_t w = a.first + (a.missing + 1) * words_; w < bits_.size(); ++w)
            bits_[w] |= bits_[w - words_];
    }
    bool append_if_any(std::size_t v) {
        const auto begin = value_bits_.begin() + static_cast<std::ptrdiff_t>(v * words_),
                   end = begin + static_cast<std::ptrdiff_t>(words_);
        if (std::none_of(begin, end, [](std::uint64_t x) { return x != 0; })) return false;
        bits_.insert(bits_.end(), begin, end);
        return true;
    }
};

/// The rows with a value, by value and then in their order. `value_of` gives -1 where it is missing.
template <class ValueOf>
std::vector<Entry> sorted_rows(std::size_t n, std::size_t n_values, ValueOf value_of, Cancel &cancel) {
    std::vector<Entry> out;
    out.reserve(n);
    in_stretches(n, cancel, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (const std::int64_t v = value_of(i); v >= 0)
                out.push_back(make_entry(static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(i)));
    });
    if (n_values > 4 * n + 16) {
        Pace pace(cancel, 5);
        std::sort(out.begin(), out.end(), [&](Entry a, Entry b) {
            pace.step();
            return a < b;
        });
        return out;
    }
    std::vector<std::uint32_t> at(n_values + 1, 0);
    std::vector<Entry> sorted(out.size());
    auto each = [&](auto visit) {
        in_stretches(out.size(), cancel, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) visit(out[i]);
        });
    };
    each([&](Entry e) { ++at[rank_of(e) + 1]; });
    for (std::size_t v = 1; v <= n_values; ++v) at[v] += at[v - 1];
    each([&](Entry e) { sorted[at[rank_of(e)]++] = e; });
    return sorted;
}

std::vector<std::uint32_t> ranks_of(const NumericColumn &column, std::size_t n_rows, Cancel &cancel) {
    std::vector<std::uint32_t> rank(n_rows, static_cast<std::uint32_t>(column.n_ranks()));
    if (!column.ranks.empty()) std::copy(column.ranks.begin(), column.ranks.end(), rank.begin());
    in_stretches(column.entries.size(), cancel, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            rank[row_of(column.entries[i])] = rank_of(column.entries[i]);
    });
    return rank;
}

} // namespace

Lookahead::Lookahead(const EncodedTable &table, std::span<const ClassCode> classes, std::size_t n_classes,
                     const LookaheadOptions &options, std::string kernels, Cancel &cancel)
    : table_(table), classes_(classes), n_classes_(n_classes), options_(options),
      kernels_(std::move(kernels)) {
    if (classes.size() != table.n_rows)
        throw std::invalid_argument("classes and table differ in their number of rows");
    for (ClassCode c : classes)
        if (c >= n_classes) throw std::invalid_argument("a class code is not below n_classes");
    if (table.n_rows >= XlogTable::largest_table)
        throw std::invalid_argument("a lookahead takes fewer than " +
                                    std::to_string(XlogTable::largest_table) + " rows");
    xlog_ = XlogTable(table.n_rows, cancel);
    for (const Column &column : table.columns) {
        cancel.poll();
        const auto *numeric = std::get_if<NumericColumn>(&column);
        rank_.push_back(numeric == nullptr ? std::vector<std::uint32_t>()
                                           : ranks_of(*numeric, table.n_rows, cancel));
    }
    sampler(cancel); // an unknown name is told at once
}

OwnNode Lookahead::node_of(std::span<const std::int32_t> rows, Cancel &cancel) const {
    for (std::int32_t row : rows)
        if (row < 0 || static_cast<std::size_t>(row) >= table_.n_rows)
            throw std::invalid_argument("a row is not one of the table's");
    if (rows.empty()) throw std::invalid_argument("there are no rows");
    if (rows.size() > table_.n_rows) throw std::invalid_argument("a row is named twice");
    RootNode root(rows.size(), options_.fast, cancel);
    root.add_classes(rows, classes_, n_classes_);
    auto add = [&](std::size_t j, bool nominal, std::size_t n_values, auto value_of) {
        if (root.takes_bits(n_values))
            return root.add_bits(static_cast<std::int32_t>(j), nominal, n_values, value_of);
        root.add(static_cast<std::int32_t>(j), nominal, sorted_rows(rows.size(), n_values, value_of, cancel));
    };
    for (std::size_t j = 0; j < table_.columns.size(); ++j) {
        cancel.poll();
        if (const auto *numeric = std::get_if<NumericColumn>(&table_.columns[j])) {
            const auto n_ranks = static_cast<std::uint32_t>(numeric->n_ranks());
            add(j, false, n_ranks, [n_ranks, &rows, rank = rank_[j].data()](std::size_t i) -> std::int64_t {
                const std::uint32_t r = rank[rows[i]];
                return r == n_ranks ? -1 : std::int64_t{r};
            });
        } else {
            const auto &nominal = std::get<NominalColumn>(table_.columns[j]);
            add(j, true, static_cast<std::size_t>(nominal.n_categories),
                [&rows, code = nominal.codes.data()](std::size_t i) -> std::int64_t {
                    return code[rows[i]];
                });
        }
    }
    return root.finish();
}

std::unique_ptr<Sampler> Lookahead::sampler(Cancel &cancel) const {
    return make_sampler(kernels_, {options_, &xlog_, &cancel});
}

} // namespace hornbeam
