// First-order growth under the sanitizers: layers, algorithms and threads give one tree, and a stop is heard.
#include <random>

#include "check.hpp"
#include "first_order/first_order.hpp"

using namespace hornbeam;

namespace {

constexpr std::size_t n_examples = 150;

struct Setting {
    RelationalDatabase database;
    LanguageBias bias;
    std::vector<ClassCode> classes;
    std::vector<double> numbers;
    std::vector<std::uint8_t> folds, bags; // [example][set]
};

/// p(key, node, node) with few rows or very many, q(node, number) with missing numbers, r(label) that all
/// share.
void fill(RelationalDatabase &database, std::mt19937 &random) {
    auto below = [&](int n) { return static_cast<Code>(random() % static_cast<unsigned>(n)); };
    database.n_examples = n_examples;
    ValueDomain keys, nodes, numbers;
    keys.size = n_examples, nodes.size = 9, numbers.size = 12;
    numbers.kind = ValueDomain::Kind::floats;
    for (int i = 0; i < 12; ++i) numbers.floats.push_back(i * 0.7);
    database.domains = {keys, nodes, numbers};
    for (Code e = 0; e < static_cast<Code>(n_examples); ++e) database.keys.push_back(e);
    Cancel cancel;
    std::vector<Code> key, a, b, owner, c, d;
    for (Code e = 0; e < static_cast<Code>(n_examples); ++e) {
        for (Code i = e % 7 == 0 ? 40 : below(6); i > 0; --i)
            key.push_back(e), a.push_back(below(9)), b.push_back(below(9));
        for (Code i = below(5); i > 0; --i)
            owner.push_back(e), c.push_back(below(9)), d.push_back(below(13) - 1);
    }
    const std::vector<Code> shared = {1, 2, 3, 5, 7};
    const std::vector<std::span<const Code>> p = {key, a, b}, q = {c, d}, r = {shared};
    database.relations.emplace_back(p, key, false, n_examples, 0, cancel);
    database.relations.emplace_back(q, owner, false, n_examples, -1, cancel);
    database.relations.emplace_back(r, std::span<const Code>(), true, n_examples, -1, cancel);
}

Place place(Sign sign, std::int32_t name, std::int32_t type) { return {sign, name, type, false, {}}; }

/// Types: 0 the key, 1 nodes, 2 numbers. Names: 0 A, 1 B, 2 N.
void fill(LanguageBias &bias) {
    bias.key_type = 0;
    bias.domain_of = {0, 1, 2};
    bias.n_names = 3;
    bias.max_lookahead = 2;
    bias.values.resize(3);
    for (Code c = 0; c < 9; ++c) bias.values[1].push_back({c, -1});
    const Place key = place(Sign::old, -1, 0), number = place(Sign::fresh, 2, 2),
                all = place(Sign::constant, -1, 1);
    const Pattern edge{0, {key, place(Sign::either, 0, 1), place(Sign::either, 1, 1)}};
    const Pattern from{0, {key, all, place(Sign::fresh, 1, 1)}};
    const Pattern value{1, {place(Sign::either, 0, 1), number}};
    const Pattern marked{2, {place(Sign::old, 1, 1)}};
    const Pattern low{at_most, {place(Sign::old, 2, -1), place(Sign::constant, -1, -1)}};
    const Pattern high{above, {place(Sign::old, 2, -1), place(Sign::constant, -1, -1)}};
    bias.modes = {{{edge}, 3}, {{from}, -1}, {{value, low}, -1}, {{value, high}, 2}, {{marked}, -1}};
    bias.lookaheads = {{edge, {marked}}, {from, {marked}}, {from, {value}}, {value, {low}}};
}

Setting make_setting() {
    std::mt19937 random(11);
    Setting s;
    fill(s.database, random);
    fill(s.bias);
    s.folds.resize(n_examples * 5, 1), s.bags.resize(n_examples * 5, 0);
    for (std::size_t e = 0; e < n_examples; ++e) {
        const RowRange rows = s.database.relations[0].rows_of(e);
        s.classes.push_back(static_cast<ClassCode>((rows.end - rows.begin + random() % 3) % 3));
        s.numbers.push_back(static_cast<double>(random() % 1000) / 7);
        if (e % 5 != 4) s.folds[e * 5 + 1 + e % 4] = 0;
        for (std::size_t b = 0; b < 5; ++b) ++s.bags[random() % n_examples * 5 + b];
    }
    return s;
}

struct Way {
    Sharing sharing = Sharing::automatic;
    EngineSwitches switches = {};
    unsigned threads = 1;
};

FirstOrderForest grow_it(const Setting &s, bool classes, bool bags, const Way &way, Cancel &cancel) {
    FirstOrderTask task{s.database, s.bias, {}, {}, {}, way.switches, 400, way.threads, cancel, nullptr};
    task.parameters.criterion = classes ? FirstOrderCriterion::gain_ratio : FirstOrderCriterion::variance;
    task.parameters.max_depth = 4;
    task.parameters.ftest = 0.5;
    if (classes)
        task.target.classes = s.classes, task.target.n_classes = 3;
    else
        task.target.values = s.numbers, task.target.n_targets = 1;
    const RowTimes given{bags ? s.bags.data() : s.folds.data(), n_examples, 5, 5, 1};
    if (way.sharing == Sharing::serial)
        for (std::size_t i = 0; i < 5; ++i) task.parts.emplace_back(given, i, i + 1, way.sharing);
    else
        task.parts.emplace_back(given, 0, 5, way.sharing);
    return grow_first_order(task, 0);
}

/// Trees with their tests written out: forests number them as they please.
bool same(const FirstOrderForest &a, const FirstOrderForest &b) {
    for (std::size_t i = 0; i < 5; ++i) {
        const SetTree x = tree_of(a, i), y = tree_of(b, i);
        if (x.yes != y.yes || x.no != y.no || x.counts != y.counts || x.held_out != y.held_out ||
            x.leaf != y.leaf)
            return false;
        for (std::size_t n = 0; n < x.test.size(); ++n) {
            if ((x.test[n] < 0) != (y.test[n] < 0)) return false;
            if (x.test[n] < 0) continue;
            Query t = a.tests[static_cast<std::size_t>(x.test[n])],
                  u = b.tests[static_cast<std::size_t>(y.test[n])];
            for (Literal &literal : t) literal.named = -1;
            for (Literal &literal : u) literal.named = -1;
            if (t != u) return false;
        }
    }
    return true;
}

} // namespace

void first_order_trees_are_the_same_on_every_path() {
    const Setting s = make_setting();
    Cancel cancel;
    EngineSwitches plain{false, false, false, false, 0}, forgetful{true, true, true, true, 1000};
    for (bool classes : {true, false}) {
        for (bool bags : {true, false}) {
            const FirstOrderForest one = grow_it(s, classes, bags, {Sharing::serial, plain, 1}, cancel);
            CHECK(tree_of(one, 0).test.size() > 3);
            CHECK(same(one, grow_it(s, classes, bags, {Sharing::serial, {}, 1}, cancel)));
            CHECK(same(one, grow_it(s, classes, bags, {Sharing::overlapping, {}, 2}, cancel)));
            CHECK(same(one, grow_it(s, classes, bags, {Sharing::automatic, forgetful, 1}, cancel)));
            CHECK(same(
                one, grow_it(s, classes, bags, {Sharing::automatic, {false, true, true, true}, 2}, cancel)));
            CHECK(same(
                one, grow_it(s, classes, bags, {Sharing::automatic, {true, false, false, true}, 1}, cancel)));
        }
    }
}

void first_order_growth_stops_on_request() {
    const Setting s = make_setting();
    Cancel cancel;
    cancel.request();
    bool stopped = false;
    try {
        grow_it(s, true, false, {Sharing::automatic, {}, 2}, cancel);
    } catch (const Cancelled &) {
        stopped = true;
    }
    CHECK(stopped);
}
