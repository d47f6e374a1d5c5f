#include "choice/information_scan.hpp"

#include <bit>

#include "choice/counted_scan.hpp"

namespace hornbeam {

namespace {

using Sides = std::vector<InformationScratch::Sides>;

/// Writes phi by what is on the left, of a class or of the node; a vector more may be read.
void write_phi(std::int64_t all, const std::int32_t *xlog, std::vector<std::int32_t> &phi) {
    phi.resize(static_cast<std::size_t>(all) + 1 + lane_width);
    std::int32_t *to = phi.data();
    const std::int32_t *rest = xlog + all;
    for (std::int64_t left = 0; left <= all; ++left) to[left] = xlog[left] + rest[-left];
}

/// The same attribute after attribute of a node.
void turn_to(const ClassCounts &node, const Entropy &entropy, InformationScratch &scratch) {
    if (scratch.node == node.c) return;
    scratch.node = node.c;
    scratch.content = entropy.content(node);
    const std::int32_t *xlog = entropy.fixed->data();
    write_phi(node.n, xlog, scratch.phi);
    if (node.c.size() == 2) {
        write_phi(node.c[0], xlog, scratch.phi_of_zeros);
        write_phi(node.c[1], xlog, scratch.phi_of_ones);
    }
}

/// The cuts of one training set: what they have to reach, and the best so far.
template <class AnyScan> class OneLane {
  public:
    OneLane(const AnyScan &scan, const InformationSearch &search, const Kernels &kernels)
        : scan_(scan),
          scratch_((turn_to(scan.node, search.entropy, scan.scratch.information), scan.scratch.information)),
          node_(search.entropy, search.rule, scan.node, search.whole, scratch_.content),
          kernels_(kernels.information), xlog_(node_.fixed().data()), sides_(scratch_.sides) {
        best_.quality = scan.floor;
        bar_.ratio = node_.by_ratio();
        bar_.doubt = node_.doubt;
        bar_.content = LaneInts{} + node_.content_units();
        bar_.whole_log = LaneInts{} + xlog_[node_.n];
        bar_.reach = LaneInts{} + always_reached;
        raise();
        sides_.resize(scan.node.c.size());
        for (std::size_t k = 0; k < sides_.size(); ++k)
            sides_[k] = {static_cast<std::int32_t>(scan.start.c[k]),
                         static_cast<std::int32_t>(scan.node.c[k] - scan.start.c[k])};
    }

  protected:
    const AnyScan &scan_;
    InformationScratch &scratch_;
    InformationNode node_;
    const InformationKernels &kernels_;
    const std::int32_t *const xlog_;
    Sides &sides_; // of each class, before the cuts that are looked at next
    InformationBar bar_{};
    InformationHits hits_;
    Cut best_;

    void raise() {
        bar_.reach = LaneInts{} + std::max(bar_.reach[0], node_.reach(best_.quality));
        bar_.quality = LaneFloats{} + std::max(bar_.quality[0], node_.quality_to_reach(best_.quality));
    }
    std::int32_t phi_of(std::size_t k) const { return xlog_[sides_[k].left] + xlog_[sides_[k].right]; }
    std::int32_t sum_of_phi() const {
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < sides_.size(); ++k) sum += phi_of(k);
        return sum;
    }
    /// Calls hit(i) for the cuts of a run that may be the best.
    template <class Hit> void each_hit(std::uint32_t n, Hit hit) const {
        for (std::uint32_t v = 0; v * lane_width < n; ++v)
            for (std::uint32_t hits = hits_.lanes[v]; hits != 0; hits &= hits - 1)
                hit(v * static_cast<std::uint32_t>(lane_width) +
                    static_cast<std::uint32_t>(std::countr_zero(hits)));
    }
    /// The literal score of a cut.
    void weigh(std::uint32_t at, std::int64_t left, const Sides &sides) {
        const XlogTable &xlog = *node_.entropy->xlog;
        double left_sum = 0.0, right_sum = 0.0;
        for (const auto &side : sides) {
            left_sum += xlog(side.left);
            right_sum += xlog(side.right);
        }
        const Score score = node_.literal(left, left_sum, right_sum);
        if (!(score.quality > best_.quality)) return;
        best_ = {score.quality, score.gain, at, at + 1, left};
        raise();
    }
};

/// The cuts of a list.
template <class E> class ListedLane : OneLane<Scan<E, ClassTarget>> {
  public:
    using OneLane<Scan<E, ClassTarget>>::OneLane;

    Cut best_of(CutRange cuts) {
        for (std::uint32_t i = 0; i < cuts.first; ++i) move(i, this->sides_);
        if (this->sides_.size() == 2)
            look_at_two(cuts);
        else
            look_at_many(cuts);
        return this->best_.next == 0 ? Cut{} : this->best_;
    }

  private:
    using OneLane<Scan<E, ClassTarget>>::scan_, OneLane<Scan<E, ClassTarget>>::scratch_,
        OneLane<Scan<E, ClassTarget>>::kernels_, OneLane<Scan<E, ClassTarget>>::node_;

    void move(std::uint32_t i, Sides &sides) const {
        auto &side = sides[scan_.target.code[scan_.id(i)]];
        ++side.left, --side.right;
    }
    std::int64_t left_behind(std::uint32_t i) const { return scan_.start.n + i + 1; }

    /// Calls look(begin, end) for one run of cuts after the other.
    template <class Look> void each_run(CutRange cuts, Look look) const {
        for (std::uint32_t begin = cuts.first; begin < cuts.end; begin += most_run_cuts) {
            if (begin % 65536 < most_run_cuts) scan_.cancel.poll();
            look(begin, std::min(begin + most_run_cuts, cuts.end));
        }
    }

    void look_at_two(CutRange cuts) {
        const std::int32_t *all_zeros = scratch_.phi_of_zeros.data(), *all_ones = scratch_.phi_of_ones.data();
        TwoClassRun<E> run{scan_.list + cuts.first, all_zeros + this->sides_[0].left,
                           all_ones + this->sides_[1].left, scratch_.phi.data() + scan_.start.n + cuts.first};
        each_run(cuts, [&](std::uint32_t begin, std::uint32_t end) {
            const auto zeros = static_cast<std::int32_t>(run.zeros - all_zeros),
                       ones = static_cast<std::int32_t>(run.ones - all_ones);
            bool found;
            if constexpr (sizeof(E) == 4)
                found = kernels_.two_class_run_narrow(run, end - begin, this->bar_, this->hits_);
            else
                found = kernels_.two_class_run_wide(run, end - begin, this->bar_, this->hits_);
            if (!found) return;
            this->sides_[0] = {zeros, static_cast<std::int32_t>(scan_.node.c[0]) - zeros};
            this->sides_[1] = {ones, static_cast<std::int32_t>(scan_.node.c[1]) - ones};
            weigh_hits(begin, end - begin, this->sides_);
        });
    }

    void look_at_many(CutRange cuts) {
        alignas(64) std::int32_t sums[most_run_cuts], cut[most_run_cuts];
        std::int32_t sum = this->sum_of_phi();
        Sides &before = scratch_.sides_before;
        scratch_.words.resize(this->sides_.size());
        for (std::size_t k = 0; k < this->sides_.size(); ++k)
            scratch_.words[k] = static_cast<std::uint32_t>(this->sides_[k].left) |
                                static_cast<std::uint64_t>(this->sides_[k].right) << 32;
        each_run(cuts, [&](std::uint32_t begin, std::uint32_t end) {
            const std::uint32_t n = end - begin;
            scratch_.words_before = scratch_.words;
            sum = write_sums(begin, end, sum, sums);
            for (std::uint32_t i = 0; i < n; ++i)
                cut[i] = -static_cast<std::int32_t>(scan_.cuts_after(begin + i));
            for (std::uint32_t i = n; i % lane_width != 0; ++i) sums[i] = cut[i] = 0;
            const InformationRun run{sums, cut, scratch_.phi.data() + left_behind(begin), n};
            if (!kernels_.run(run, this->bar_, this->hits_)) return;
            before.resize(scratch_.words.size());
            for (std::size_t k = 0; k < before.size(); ++k)
                before[k] = {static_cast<std::int32_t>(scratch_.words_before[k]),
                             static_cast<std::int32_t>(scratch_.words_before[k] >> 32)};
            weigh_hits(begin, n, before);
        });
    }
    /// Moves past the entries [begin, end), and writes the sum of phi_k behind each. An entry waits for the
    /// sides of its class, which the entry before may have written: two wait as long. Both sides of a class
    /// are one word: halves that are written together have to be read together.
    std::int32_t write_sums(std::uint32_t begin, std::uint32_t end, std::int32_t sum, std::int32_t *to) {
        constexpr std::uint64_t one = 1 - (std::uint64_t{1} << 32);
        const std::int32_t *rises = node_.fixed().rises();
        const ClassCode *code = scan_.target.code.data();
        std::uint64_t *words = scratch_.words.data();
        auto step = [rises](std::uint64_t word) {
            return rises[static_cast<std::uint32_t>(word)] - rises[static_cast<std::int64_t>(word >> 32) - 1];
        };
        const E *entry = scan_.list + begin, *last = scan_.list + end;
        for (; last - entry >= 2; entry += 2) {
            std::uint64_t &a = words[code[Packed<E>::id(entry[0])]],
                          &b = words[code[Packed<E>::id(entry[1])]];
            const std::uint64_t first = a, second = b + (&a == &b ? one : 0);
            sum += step(first);
            *to++ = sum;
            sum += step(second);
            *to++ = sum;
            a = first + one;
            b = second + one;
        }
        if (entry != last) {
            std::uint64_t &word = words[code[Packed<E>::id(*entry)]];
            *to = sum += step(word);
            word += one;
        }
        return sum;
    }

    /// The cuts from `begin` on that were hit; `sides` are those before them.
    void weigh_hits(std::uint32_t begin, std::uint32_t n, Sides &sides) {
        std::uint32_t moved = begin;
        this->each_hit(n, [&](std::uint32_t i) {
            for (; moved <= begin + i; ++moved) move(moved, sides);
            this->weigh(begin + i, left_behind(begin + i), sides);
        });
    }
};

/// The cuts of a counted attribute.
class CountedLane : OneLane<CountedScan> {
  public:
    using OneLane<CountedScan>::OneLane;

    Cut best() {
        const std::size_t n = write_cuts();
        Sides &before = scratch_.sides_before;
        std::uint32_t moved = 0; // values
        for (std::size_t begin = 0; begin < n; begin += most_run_cuts) {
            const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(n - begin, most_run_cuts));
            const InformationRun run{scratch_.sums.data() + begin, scratch_.cuts.data() + begin,
                                     scratch_.phis.data() + begin, size};
            if (!kernels_.run(run, bar_, hits_)) continue;
            each_hit(size, [&](std::uint32_t i) {
                const std::uint32_t value = scratch_.values[begin + i];
                for (; moved <= value; ++moved) move(moved, before);
                weigh(value, scratch_.lefts[begin + i], before);
            });
        }
        Cut best = scan_.result(best_);
        best.cuts = static_cast<std::int64_t>(n);
        return best;
    }

  private:
    void move(std::uint32_t value, Sides &sides) const {
        const std::uint32_t *row = scan_.row(value);
        for (std::size_t k = 0; k < sides.size(); ++k) {
            const auto rows = static_cast<std::int32_t>(row[k]);
            sides[k].left += rows, sides[k].right -= rows;
        }
    }
    /// Writes down every admissible cut; returns how many there are.
    std::size_t write_cuts() {
        InformationScratch &to = scratch_;
        to.values.clear(), to.lefts.clear(), to.sums.clear(), to.phis.clear();
        to.sides_before = sides_;
        std::int64_t left = scan_.start.n;
        std::int32_t sum = sum_of_phi();
        for (std::uint32_t v = 0; v < scan_.n_values; ++v) {
            const std::int64_t rows = scan_.rows_of(v);
            if (rows == 0) continue;
            left += rows;
            if (!scan_.cuts(left)) break;
            for (std::size_t k = 0; k < sides_.size(); ++k) {
                const auto moved = static_cast<std::int32_t>(scan_.row(v)[k]);
                if (moved == 0) continue;
                sum -= phi_of(k);
                sides_[k].left += moved, sides_[k].right -= moved;
                sum += phi_of(k);
            }
            if (!scan_.admits(left)) continue;
            to.values.push_back(v);
            to.lefts.push_back(static_cast<std::int32_t>(left));
            to.sums.push_back(sum);
            to.phis.push_back(to.phi[static_cast<std::size_t>(left)]);
        }
        const std::size_t n = to.values.size(), padded = (n + lane_width - 1) / lane_width * lane_width;
        to.cuts.assign(n, -1);
        to.cuts.resize(padded, 0), to.sums.resize(padded, 0), to.phis.resize(padded, 0);
        return n;
    }
};

template <class E> std::int64_t count_cuts(const Scan<E, ClassTarget> &scan, CutRange cuts) {
    std::int64_t n = 0;
    for (std::uint32_t i = cuts.first; i < cuts.end; ++i) n += scan.cuts_after(i);
    return n;
}

} // namespace

template <class E> Cut information_scan(const Scan<E, ClassTarget> &scan, const InformationSearch &search,
                                        const Kernels &kernels) {
    const CutRange cuts = admissible_cuts(scan);
    if (cuts.first >= cuts.end) return {};
    Cut best = ListedLane<E>(scan, search, kernels).best_of(cuts);
    if (search.counted) best.cuts = count_cuts(scan, cuts);
    return best;
}
template Cut information_scan(const Scan<std::uint32_t, ClassTarget> &, const InformationSearch &,
                              const Kernels &);
template Cut information_scan(const Scan<std::uint64_t, ClassTarget> &, const InformationSearch &,
                              const Kernels &);

Cut information_scan(const CountedScan &scan, const InformationSearch &search, const Kernels &kernels) {
    return CountedLane(scan, search, kernels).best();
}

} // namespace hornbeam
