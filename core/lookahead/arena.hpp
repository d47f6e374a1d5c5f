// Bits of columns, and the stack on which the nodes of a sample lie. Included once for each instruction set,
// inside a namespace of its own: nothing here may have a name that another version could be taken for.

inline std::uint32_t ones(std::uint64_t x) { return static_cast<std::uint32_t>(__builtin_popcountll(x)); }

/// The bits of x where the mask has ones, moved together.
inline std::uint64_t gather_bits(std::uint64_t x, std::uint64_t mask) {
#if defined(__BMI2__)
    return _pext_u64(x, mask);
#else
    x &= mask;
    std::uint64_t gaps = ~mask << 1;
    for (unsigned i = 0; i < 6; ++i) { // Hacker's Delight, 7-4: each pass moves bits by 2^i places
        std::uint64_t parity = gaps;
        for (unsigned s = 1; s < 64; s *= 2) parity ^= parity << s;
        const std::uint64_t move = parity & mask;
        mask = (mask ^ move) | (move >> (1u << i));
        const std::uint64_t moved = x & move;
        x = (x ^ moved) | (moved >> (1u << i));
        gaps &= ~parity;
    }
    return x;
#endif
}

inline std::uint64_t full(std::uint32_t n) {
    return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

/// Memory that grows between uses and is never cleared.
template <class T> struct Room {
    T *data = nullptr;
    std::size_t size = 0;

    Room() = default;
    Room(const Room &) = delete;
    Room &operator=(const Room &) = delete;
    ~Room() { delete[] data; }
    /// What was there is lost.
    T *ensure(std::size_t wanted) {
        if (wanted > size) {
            delete[] data;
            data = nullptr, size = 0;
            data = new T[wanted];
            size = wanted;
        }
        return data;
    }
};

/// An array of plain values that is filled from the front; what is in it stays when it grows. Room that is
/// not filled is never touched: of millions of tests that alone would take longer than a stop may wait.
template <class T> struct Pile {
    T *data = nullptr;
    std::size_t size = 0, room = 0;

    Pile() = default;
    Pile(const Pile &) = delete;
    Pile &operator=(const Pile &) = delete;
    ~Pile() { ::operator delete(data); }
    /// Makes room for so many in all.
    void reserve(std::size_t wanted) {
        if (wanted <= room) return;
        T *moved = static_cast<T *>(::operator new(wanted * sizeof(T)));
        if (size != 0) __builtin_memcpy(moved, data, size * sizeof(T));
        ::operator delete(data);
        data = moved, room = wanted;
    }
    T *add(std::size_t more) {
        if (size + more > room) reserve(2 * (size + more));
        size += more;
        return data + (size - more);
    }
};

/// Looks for a stop about every millisecond of work that is told in nanoseconds, roughly.
class Ticker {
  public:
    explicit Ticker(Cancel &cancel) : cancel_(cancel) {}
    void spend(std::uint64_t cost) {
        if ((spent_ += cost) < 1'000'000) return;
        spent_ = 0;
        cancel_.poll();
    }

  private:
    Cancel &cancel_;
    std::uint64_t spent_ = 0;
};

/// Copies parts of an array with looks in between. `to` may overlap what it is copied from if it lies below.
template <class T> void copy_parts(T *to, const T *from, std::uint64_t n, Ticker &ticker) {
    constexpr std::uint64_t most = std::uint64_t{1} << 17;
    while (n > most) {
        __builtin_memmove(to, from, most * sizeof(T));
        ticker.spend(most / 2 * sizeof(T));
        to += most, from += most, n -= most;
    }
    if (n != 0) __builtin_memmove(to, from, n * sizeof(T));
}

/// Where the next node goes.
struct Marks {
    std::uint64_t attributes = 0, bits = 0, entries = 0, codes = 0;
};

/// The nodes of a sample, each above the one that it came from. A node keeps its place until it is released;
/// the largest branch of a split takes the place of the node itself, and the others are at most half as
/// large, so that the whole stack is a small multiple of the first node.
class Arena {
  public:
    Arena(bool fast, Cancel &cancel) : fast_(fast), ticker_(cancel) {}

    void open(const NodeView &node) {
        std::uint64_t lists = 0, columns = 0;
        for (std::uint32_t a = 0; a < node.n_attributes; ++a) lists += node.attributes[a].listed;
        columns = node.words == 0 ? 0 : node.n_bits / node.words;
        const std::uint64_t levels = 36; // halvings, and a copy on top
        attributes_.ensure(2 * levels * (node.n_attributes + 1));
        bits_.ensure(2 * ((columns + 1) * (2 * node.words + levels) + 66 * lists * 10));
        entries_.ensure(4 * node.n_entries + 2);
        codes_.ensure(4 * std::uint64_t{node.n} + 1);
        before_.ensure(node.words + 1);
        renamed_.ensure(node.classes + 1u);
        top_ = {};
    }
    Marks marks() const { return top_; }
    void release(const Marks &to) { top_ = to; }

    /// The rows of `mask` as a node on top.
    NodeView part(const NodeView &from, const std::uint64_t *mask) {
        NodeView to;
        std::uint32_t *before = before_.data;
        for (std::uint32_t w = 0; w < from.words; ++w) before[w] = to.n, to.n += ones(mask[w]);
        to.words = (to.n + 63) / 64;
        to.bits = out_ = bits_.data + top_.bits;
        to.attributes = attributes_.data + top_.attributes;
        to.entries = entries_.data + top_.entries;
        to.code = codes_.data + top_.codes;
        const Parting p{from.words, to.words, to.n, mask};
        to.classes = part_classes(p, from);
        if (to.classes > 1) part_attributes(p, from, to);
        to.n_bits = static_cast<std::uint64_t>(out_ - to.bits);
        top_.attributes += to.n_attributes;
        top_.bits += to.n_bits;
        top_.entries += to.n_entries;
        if (to.lists) {
            for (std::uint32_t w = 0, i = 0; w < from.words; ++w)
                for (std::uint64_t m = mask[w]; m != 0; m &= m - 1)
                    codes_.data[top_.codes + i++] =
                        renamed_.data[from.code[64 * w + static_cast<std::uint32_t>(__builtin_ctzll(m))]];
            top_.codes += to.n;
        }
        return to;
    }

    /// Moves the top node down to `to`.
    NodeView slide(NodeView node, const Marks &to) {
        move_to(attributes_.data + to.attributes, node.attributes, node.n_attributes);
        move_to(bits_.data + to.bits, node.bits, node.n_bits);
        move_to(entries_.data + to.entries, node.entries, node.n_entries);
        move_to(codes_.data + to.codes, node.code, node.lists ? node.n : 0);
        top_ = {to.attributes + node.n_attributes, to.bits + node.n_bits, to.entries + node.n_entries,
                to.codes + (node.lists ? node.n : 0)};
        return node;
    }

  private:
    /// The rows that go on.
    struct Parting {
        std::uint32_t words, kept_words, n;
        const std::uint64_t *mask;
    };

    bool fast_;
    Ticker ticker_;
    Room<NodeAttribute> attributes_;
    Room<std::uint64_t> bits_;
    Room<Entry> entries_;
    Room<std::uint16_t> codes_, renamed_;
    Room<std::uint32_t> before_; // rows that go on in the words before each
    Marks top_;
    std::uint64_t *out_ = nullptr; // where the next column goes

    template <class T> void move_to(T *to, const T *&from, std::uint64_t n) {
        if (to != from) copy_parts(to, from, n, ticker_);
        from = to;
    }

    /// Writes the rows of a column that go on to `out_`; returns how many it has.
    std::uint32_t part_column(const Parting &p, const std::uint64_t *column) {
        if (p.words == 1) {
            const std::uint64_t x = gather_bits(column[0], p.mask[0]);
            *out_ = x;
            return ones(x);
        }
        std::uint64_t *to = out_, held = 0;
        unsigned filled = 0;
        std::uint32_t n = 0;
        for (std::uint32_t w = 0; w < p.words; ++w) {
            const std::uint64_t x = gather_bits(column[w], p.mask[w]);
            n += ones(x);
            held |= x << filled;
            const unsigned after = filled + ones(p.mask[w]);
            if (after < 64) {
                filled = after;
                continue;
            }
            *to++ = held;
            held = filled == 0 ? 0 : x >> (64 - filled);
            filled = after - 64;
        }
        if (filled != 0) *to = held;
        return n;
    }

    /// How many classes go on; codes are renamed accordingly.
    std::uint32_t part_classes(const Parting &p, const NodeView &from) {
        std::uint16_t *renamed = renamed_.data;
        if (from.classes == 2) {
            const std::uint32_t first = part_column(p, from.bits);
            renamed[0] = 0, renamed[1] = 1;
            if (first == 0 || first == p.n) return 1;
            out_ += p.kept_words;
            return 2;
        }
        std::uint32_t present = 0;
        for (std::uint32_t k = 0; k < from.classes; ++k) {
            renamed[k] = static_cast<std::uint16_t>(present);
            if (part_column(p, from.bits + std::uint64_t{k} * from.words) == 0) continue;
            out_ += p.kept_words;
            ++present;
        }
        if (present == 2) out_ -= p.kept_words;
        return present;
    }

    void part_attributes(const Parting &p, const NodeView &from, NodeView &to) {
        auto *kept = const_cast<NodeAttribute *>(to.attributes);
        for (std::uint32_t a = 0; a < from.n_attributes; ++a) {
            NodeAttribute next = from.attributes[a];
            ticker_.spend(next.listed ? 4 * next.size : 2 * next.columns() * p.words);
            const bool usable = !next.listed         ? part_columns(p, from, to, next)
                                : fast_ && p.n <= 64 ? list_to_columns(p, from, to, next)
                                                     : part_list(p, from, to, next);
            if (!usable) continue;
            to.lists |= next.listed;
            kept[to.n_attributes++] = next;
        }
    }

    bool part_columns(const Parting &p, const NodeView &from, const NodeView &to, NodeAttribute &next) {
        const std::uint64_t *column = from.bits + next.first;
        const std::uint32_t columns = next.columns();
        std::uint64_t *begin = out_;
        std::uint32_t known = p.n;
        next.first = static_cast<std::uint64_t>(begin - to.bits);
        if (next.missing) {
            const std::uint32_t without = part_column(p, column);
            column += p.words;
            known -= without;
            next.missing = without != 0;
            if (next.missing) out_ += p.kept_words;
        }
        std::uint32_t last = 0, kept = 0;
        for (std::uint32_t c = 0; c < columns; ++c, column += p.words) {
            const std::uint32_t n = part_column(p, column);
            if (n == last || (n == known && (columns == 1 || !next.nominal))) continue;
            out_ += p.kept_words;
            if (!next.nominal) last = n; // columns of values grow; those of categories only may not be empty
            ++kept;
        }
        next.values = !next.nominal || columns == 1 ? kept + 1 : kept;
        if (next.values < 2) {
            out_ = begin;
            return false;
        }
        if (columns > 1 && next.nominal && kept == 2) out_ -= p.kept_words;
        return true;
    }

    /// Calls visit(rank, row) for the entries that go on.
    template <class Visit>
    void each_entry(const Parting &p, const NodeView &from, const NodeAttribute &a, Visit visit) const {
        const Entry *list = from.entries + a.first;
        for (std::uint32_t i = 0; i < a.size; ++i) {
            const std::uint32_t row = static_cast<std::uint32_t>(list[i]), w = row / 64, at = row % 64;
            const std::uint64_t m = p.mask[w];
            if ((m >> at & 1) == 0) continue;
            visit(static_cast<std::uint32_t>(list[i] >> 32),
                  before_.data[w] + ones(m & ((std::uint64_t{1} << at) - 1)));
        }
    }
    /// Every entry is written, and stays where it goes on: no branch has to be guessed.
    bool part_list(const Parting &p, const NodeView &from, NodeView &to, NodeAttribute &next) {
        auto *list = const_cast<Entry *>(to.entries) + to.n_entries;
        const Entry *old = from.entries + next.first;
        std::uint32_t size = 0, values = 0;
        for (std::uint32_t i = 0; i < next.size; ++i) {
            const auto row = static_cast<std::uint32_t>(old[i]);
            const std::uint64_t m = p.mask[row / 64], bit = std::uint64_t{1} << row % 64;
            list[size] = (old[i] & ~Entry{0xFFFFFFFF}) | (before_.data[row / 64] + ones(m & (bit - 1)));
            size += (m & bit) != 0;
        }
        for (std::uint32_t i = 1; i < size; ++i) values += list[i] >> 32 != list[i - 1] >> 32;
        values += size != 0;
        if (values < 2) return false;
        next.first = to.n_entries;
        next.size = size;
        next.values = values;
        next.missing = size != p.n;
        to.n_entries += size;
        return true;
    }
    /// At most 64 rows: a word for each column.
    bool list_to_columns(const Parting &p, const NodeView &from, const NodeView &to, NodeAttribute &next) {
        std::uint64_t *begin = out_, seen = 0, run = 0;
        std::uint32_t last = 0, values = 0;
        ++out_; // for the missing
        each_entry(p, from, next, [&](std::uint32_t rank, std::uint32_t row) {
            if (values == 0 || rank != last) {
                if (values != 0) *out_++ = next.nominal ? run : seen;
                ++values, run = 0;
                last = rank;
            }
            seen |= std::uint64_t{1} << row;
            run |= std::uint64_t{1} << row;
        });
        if (values < 2) {
            out_ = begin;
            return false;
        }
        if (next.nominal && values > 2) *out_++ = run;
        next.listed = false;
        next.values = values;
        next.missing = seen != full(p.n);
        next.first = static_cast<std::uint64_t>(begin - to.bits);
        *begin = full(p.n) & ~seen;
        if (!next.missing) {
            __builtin_memmove(begin, begin + 1, static_cast<std::size_t>(out_ - begin - 1) * sizeof *begin);
            --out_;
        }
        return true;
    }
};
