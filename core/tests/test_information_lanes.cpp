// Cuts by information for all lanes at once, and for one: each lane's cut is the one that a plain scan of its
// own rows finds.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>

#include "check.hpp"
#include "choice/information_lanes.hpp"
#include "choice/information_scan.hpp"
#include "choice/plain_scan.hpp"
#include "criteria/gain_ratio.hpp"
#include "random_case.hpp"

using namespace hornbeam;

namespace {

/// A node with one list: its rows' classes, lanes and values; rows without a value are not in the list.
struct RandomList {
    std::uint32_t n_rows, n_classes, n_lanes;
    std::vector<ClassCode> classes;
    std::vector<std::vector<std::uint8_t>> in; // [lane][row]
    std::vector<std::uint32_t> value, missing;
    std::vector<std::uint32_t> order; // rows with a value, by it
    std::vector<ClassCounts> node, gap;
    Least least;
    double floor_share;

    RandomList(Draws &draws, bool large) {
        n_rows = static_cast<std::uint32_t>(
            large ? draws.between(33000, 40000)
                  : draws.one_of({draws.between(2, 40), draws.between(2, 400), draws.between(200, 3000)}));
        n_classes = static_cast<std::uint32_t>(
            draws.one_of({std::size_t{2}, draws.between(3, 12), draws.between(2, 40), std::size_t{70}}));
        n_lanes = static_cast<std::uint32_t>(draws.between(1, 16));
        draw_classes(draws);
        draw_lanes(draws);
        draw_values(draws);
        const std::size_t most = draws.one_of({std::size_t{1}, std::size_t{4}, std::size_t{n_rows / 4 + 1}});
        least.left = static_cast<std::int64_t>(draws.between(1, most));
        least.right = static_cast<std::int64_t>(draws.between(1, most));
        floor_share = draws.chance(0.5) ? -1.0 : draws.unit() * 1.2;
    }

  private:
    void draw_classes(Draws &draws) {
        const double skew = draws.unit();
        for (std::uint32_t i = 0; i < n_rows; ++i) {
            std::size_t k = draws.below(n_classes);
            if (draws.chance(skew)) k = std::min(k, draws.below(n_classes));
            classes.push_back(static_cast<ClassCode>(k));
        }
    }
    void draw_lanes(Draws &draws) {
        const std::size_t folds = draws.between(2, 12), kind = draws.below(3);
        std::vector<std::size_t> fold(n_rows);
        for (std::size_t &f : fold) f = draws.below(folds);
        const double share = 0.3 + 0.6 * draws.unit();
        in.assign(n_lanes, std::vector<std::uint8_t>(n_rows, 1));
        for (std::uint32_t lane = 0; lane < n_lanes; ++lane)
            for (std::uint32_t i = 0; i < n_rows; ++i)
                in[lane][i] = kind == 0 || lane == 0 ? 1
                              : kind == 1            ? fold[i] != lane % folds
                                                     : lane > 6 || draws.chance(share); // 7 bits of patterns
    }
    void draw_values(Draws &draws) {
        const std::size_t kind = draws.below(3);
        const std::size_t values = kind == 0   ? draws.between(1, 8)
                                   : kind == 1 ? draws.between(2, n_rows)
                                               : 32767;
        const double follow = draws.chance(0.5) ? 0.0 : draws.unit(),
                     gaps = draws.chance(0.5) ? 0.0 : draws.unit() * 0.6;
        value.resize(n_rows);
        node.assign(n_lanes, ClassCounts(n_classes));
        gap = node;
        for (std::uint32_t i = 0; i < n_rows; ++i) {
            const std::size_t by_class = values * classes[i] / n_classes;
            value[i] = static_cast<std::uint32_t>(draws.chance(follow) ? by_class : draws.below(values));
            const bool absent = draws.chance(gaps);
            (absent ? missing : order).push_back(i);
            for (std::uint32_t lane = 0; lane < n_lanes; ++lane)
                if (in[lane][i] != 0) {
                    ++node[lane].n, ++node[lane].c[classes[i]];
                    if (absent) ++gap[lane].n, ++gap[lane].c[classes[i]];
                }
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return value[a] < value[b]; });
    }
};

/// The same list as kernels read it.
template <class E> struct PackedList {
    std::vector<E> entries;
    std::vector<std::uint8_t> pattern, steps;
    std::vector<LanePattern> patterns;
    LaneList<E> list;

    explicit PackedList(const RandomList &given) {
        for (std::uint32_t i : given.order)
            entries.push_back(
                Packed<E>::make(given.value[i], i, given.n_classes == 2 ? given.classes[i] : 0));
        std::map<std::uint32_t, std::uint8_t> known;
        for (std::uint32_t i = 0; i < given.n_rows; ++i) {
            std::uint32_t key = 0;
            for (std::uint32_t lane = 0; lane < given.n_lanes; ++lane)
                key |= std::uint32_t{given.in[lane][i]} << lane;
            const auto [at, fresh] = known.emplace(key, static_cast<std::uint8_t>(known.size()));
            pattern.push_back(at->second);
            if (!fresh) continue;
            LanePattern lanes{};
            steps.resize(known.size() * lane_steps);
            for (std::uint32_t lane = 0; lane < given.n_lanes; ++lane) {
                lanes.in[lane] = -static_cast<std::int32_t>(given.in[lane][i]);
                steps[(known.size() - 1) * lane_steps + lane] = given.in[lane][i];
            }
            patterns.push_back(lanes);
        }
        CHECK(known.size() < 256);
        list = {entries.data(), static_cast<std::uint32_t>(entries.size()),
                pattern.data(), patterns.data(),
                steps.data(),   given.classes.data(),
                given.n_classes};
    }
};

/// How cuts are scored: by entropy, gain ratio, or C4.5's information of known rows.
enum class Rule { entropy, gain_ratio, known };

struct Scoring {
    Entropy entropy;
    Rule rule;

    InformationRule compared_by() const {
        return rule == Rule::gain_ratio ? InformationRule::ratio : InformationRule::gain;
    }
    /// Calls scan(list, node) of a lane. `on_left`: the missing rows are tried there.
    template <class E, class ScanBy> Cut with_scan(const RandomList &given, std::span<const E> entries,
                                                   std::uint32_t lane, bool on_left, double floor,
                                                   ScanBy scan_by) const {
        Cancel cancel;
        const ClassTarget target{given.classes, given.n_classes};
        const ClassCounts zero(given.n_classes);
        ClassCounts node = given.node[lane];
        if (rule == Rule::known) node -= given.gap[lane];
        NodeFacts facts;
        read_facts(facts, node);
        ScanScratch scratch;
        return scan_by(Scan<E, ClassTarget>{entries.data(), static_cast<std::uint32_t>(entries.size()),
                                            target, node, on_left ? given.gap[lane] : zero, facts, scratch,
                                            cancel, given.least, floor});
    }
    /// The plain scan of one lane.
    template <class E> Cut plain(const RandomList &given, std::span<const E> entries, std::uint32_t lane,
                                 bool on_left, double floor) const {
        auto count = [&](std::uint32_t id) { return std::int64_t{given.in[lane][id]}; };
        return with_scan(given, entries, lane, on_left, floor, [&](const Scan<E, ClassTarget> &scan) {
            if (rule == Rule::entropy) return plain_scan(scan, ScorerOf<Entropy>(entropy), count);
            const GainRatio ratio{entropy};
            if (rule == Rule::gain_ratio) return plain_scan(scan, ScorerOf<GainRatio>(ratio), count);
            const KnownInformation<Entropy> known{&entropy, as_double(given.node[lane].n)};
            return plain_scan(scan, ScorerOf<KnownInformation<Entropy>>(known), count);
        });
    }
    /// The fast scan of one lane's own entries.
    template <class E> Cut alone(const RandomList &given, std::span<const E> entries, std::uint32_t lane,
                                 bool on_left, double floor, const Kernels &kernels) const {
        return with_scan(given, entries, lane, on_left, floor, [&](const Scan<E, ClassTarget> &scan) {
            return information_scan(
                scan, {entropy, compared_by(), as_double(given.node[lane].n), rule == Rule::known}, kernels);
        });
    }
};

bool same_cut(const Cut &a, const Cut &b, bool counted) {
    if (a.quality != b.quality || (counted && a.cuts != b.cuts)) return false;
    return a.quality < 0.0 || (a.gain == b.gain && a.at == b.at && a.next == b.next && a.left == b.left);
}

void must_be_same(const Cut &found, const Cut &expected, const RandomList &given, const Scoring &scoring,
                  const std::string &how, std::uint32_t lane) {
    if (same_cut(found, expected, scoring.rule == Rule::known)) return;
    std::fprintf(stderr,
                 "%s: lane %u of %u, %u rows, %zu of them in the list, %u classes, rule %d: %.17g at %u, "
                 "%lld cuts; the "
                 "plain scan finds %.17g at %u, %lld cuts\n",
                 how.c_str(), lane, given.n_lanes, given.n_rows, given.order.size(), given.n_classes,
                 static_cast<int>(scoring.rule), found.quality, found.at, static_cast<long long>(found.cuts),
                 expected.quality, expected.at, static_cast<long long>(expected.cuts));
    std::exit(1);
}

/// What a cut has to beat: nothing, C4.5's zero, or a share of the best there is, or that itself.
double floor_of(const RandomList &given, const Scoring &scoring, double best) {
    if (scoring.rule == Rule::known) return 0.0;
    if (given.floor_share < 0.0 || best < 0.0) return -1.0;
    return given.floor_share > 1.0 ? best : best * given.floor_share;
}

template <class E> void compare(const RandomList &given, const Scoring &scoring, const Kernels &kernels,
                                std::uint32_t block, const std::string &how) {
    const PackedList<E> packed(given);
    const std::span<const E> entries = packed.entries;
    const bool known = scoring.rule == Rule::known;
    InformationLanes lanes(scoring.entropy, scoring.compared_by(), kernels);
    std::vector<ClassCounts> nodes = given.node;
    std::vector<const ClassCounts *> totals;
    std::vector<double> wholes;
    for (std::uint32_t lane = 0; lane < given.n_lanes; ++lane) {
        if (known) nodes[lane] -= given.gap[lane];
        totals.push_back(&nodes[lane]);
        wholes.push_back(as_double(given.node[lane].n));
    }
    lanes.open(totals, wholes);
    for (const bool on_left : {false, true}) {
        if (on_left && known) continue;
        std::vector<InformationAsk> asks;
        std::vector<Cut> expected, found(given.n_lanes);
        for (std::uint32_t lane = 0; lane < given.n_lanes; ++lane) {
            const double floor =
                floor_of(given, scoring, scoring.plain(given, entries, lane, on_left, -1.0).quality);
            expected.push_back(scoring.plain(given, entries, lane, on_left, floor));
            asks.push_back({on_left ? &given.gap[lane] : nullptr, given.node[lane].n - given.gap[lane].n,
                            given.least, floor});
            std::vector<E> own;
            std::copy_if(entries.begin(), entries.end(), std::back_inserter(own),
                         [&](E e) { return given.in[lane][Packed<E>::id(e)] != 0; });
            if (own.size() < 2) continue;
            must_be_same(scoring.alone(given, std::span<const E>(own), lane, on_left, floor, kernels),
                         scoring.plain(given, std::span<const E>(own), lane, on_left, floor), given, scoring,
                         how + ", alone", lane);
        }
        lanes.cuts(packed.list, asks, block, known, found);
        for (std::uint32_t lane = 0; lane < given.n_lanes; ++lane)
            must_be_same(found[lane], expected[lane], given, scoring,
                         how + ", together in blocks of " + std::to_string(block), lane);
    }
}

void compare_list(std::uint64_t number, bool large) {
    Draws draws(7, number);
    const RandomList given(draws, large);
    if (given.order.size() < 2) return;
    Cancel cancel;
    const XlogTable exact(given.n_rows + 1, cancel);
    const FixedXlog fixed(exact, given.n_rows + 1, cancel);
    const Scoring scoring{{&exact, &fixed}, draws.one_of({Rule::entropy, Rule::gain_ratio, Rule::known})};
    const auto blocks = {std::uint32_t{0}, std::uint32_t{16}, std::uint32_t{64}, std::uint32_t{128}};
    for (std::string_view name : kernels_available()) {
        std::uint32_t block = draws.one_of(blocks);
        if (block != 0 && given.n_classes > most_block_classes) block = 0;
        const std::string how = "list " + std::to_string(number) + ", kernels " + std::string(name);
        if (large)
            compare<std::uint64_t>(given, scoring, *kernels_named(name), block, how);
        else
            compare<std::uint32_t>(given, scoring, *kernels_named(name), block, how);
    }
}

} // namespace

void lanes_find_the_cuts_of_plain_scans() {
    for (std::uint64_t number = 0; number < 1500; ++number) compare_list(number, false);
    for (std::uint64_t number = 0; number < 4; ++number) compare_list(number, true);
}
