// The exact sums of an attribute's values and of their squares, class by class: those of a place are the sum
// of its parts', in any order. They are all that QUEST asks of a numeric attribute before it is cut.
#pragma once

#include <span>
#include <vector>

#include "choice/moments.hpp"
#include "scans/rows.hpp"

namespace hornbeam {

/// Keys of a numeric attribute as exact numbers. Nothing that is asked of them changes when all are shifted:
/// integers are seen from the middle of their range, so that 64 bits hold them.
class ExactKeys {
  public:
    ExactKeys() = default;
    explicit ExactKeys(const AttributeShape &shape)
        : shape_(shape), middle_(shape.highest / 2 + (shape.unused != 0 ? 1 : 0)),
          integers_(shape.kind == ValueKind::integers) {}

    const AttributeShape &shape() const { return shape_; }
    bool integers() const { return integers_; }
    std::int64_t from_middle(RowKey key) const {
        return static_cast<std::int64_t>(shape_.place_of(key) - middle_);
    }
    Decomposed value(RowKey key) const;

  private:
    AttributeShape shape_;
    RowKey middle_ = 0;
    bool integers_ = false;
};

class KeySums {
  public:
    KeySums() = default;
    KeySums(const AttributeShape &shape, std::size_t n_classes) : keys_(shape), n_classes_(n_classes) {}

    /// Whether they are of an attribute.
    bool there() const { return n_classes_ != 0; }
    const ExactKeys &keys() const { return keys_; }
    void add(RowKey key, std::size_t k, std::uint64_t times);
    /// Adds rows of a block; those without a value are passed over.
    void add_rows(const RowKey *keys, const std::uint32_t *klass, std::span<const BlockRow> rows);
    /// Adds class `from` of sums of the same attribute to class `to`.
    void add(const KeySums &other, std::size_t from, std::size_t to);
    KeySums &operator+=(const KeySums &other);
    /// All that was summed up, as numbers; `read_words` takes the place of it, and says whether they fit.
    std::vector<std::uint64_t> words() const;
    bool read_words(std::span<const std::uint64_t> words);
    /// Of all values that were added.
    ExponentSpan span() const;
    /// Makes room for a value that is not summed up.
    void widen(ExponentSpan &span, RowKey key) const;
    std::size_t bytes() const { return parts_.capacity() * sizeof(Part); }

    /// The sums of a class of n rows, in units of 2^exponent.
    template <int W> Moments<W> of(std::size_t k, std::int64_t n, int exponent) const {
        Moments<W> sums;
        sums.n = n;
        for (int g = 0; g < n_groups_; ++g) {
            const Part &p = parts_[static_cast<std::size_t>(g) * n_classes_ + k];
            if (p.zero()) continue;
            const auto shift = static_cast<unsigned>(exponent_of(first_ + g) - exponent);
            sums.x.add_shifted(p.x, shift);
            const std::uint64_t limbs[3] = {static_cast<std::uint64_t>(p.xx),
                                            static_cast<std::uint64_t>(p.xx >> 64), p.xx_high};
            for (unsigned i = 0; i < 3; ++i)
                if (limbs[i] != 0) sums.xx.add_shifted(static_cast<__int128>(limbs[i]), 2 * shift + 64 * i);
        }
        return sums;
    }

  private:
    /// Values of a group of exponents, as whole numbers of at most 63 bits.
    struct Part {
        __int128 x = 0;
        unsigned __int128 xx = 0;
        std::uint64_t xx_high = 0;

        bool zero() const { return xx == 0 && xx_high == 0; }
        void add(__int128 sum, unsigned __int128 squares) {
            x += sum;
            xx += squares;
            xx_high += xx < squares;
        }
        void add(std::int64_t value) {
            add(value, static_cast<unsigned __int128>(static_cast<__int128>(value) * value));
        }
    };
    /// A float's whole number, and its group.
    struct Grouped {
        std::int64_t value = 0;
        int group = 0;
    };
    static constexpr int group_bits = 3; // of an exponent: 53 bits and 7 more

    ExactKeys keys_;
    std::size_t n_classes_ = 0;
    std::vector<Part> parts_;      // [group][class]
    int first_ = 0, n_groups_ = 0; // groups; integers have one

    int exponent_of(int group) const { return keys_.integers() ? 0 : (group << group_bits) - 1075; }
    Grouped grouped(RowKey key) const;
    void make_room(ExponentSpan &span, int group) const;
    Part *group(int g);
    void add_small(const RowKey *keys, const std::uint32_t *klass, std::span<const BlockRow> rows);
};

} // namespace hornbeam
