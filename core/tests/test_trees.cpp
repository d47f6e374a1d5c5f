// A small tree is written in its canonical form, and a subtree of it stands elsewhere as it stood there.
#include <string>

#include "check.hpp"
#include "tree/canonical.hpp"
#include "tree/forest.hpp"
#include "tree/tree_graft.hpp"
#include "tree/verify.hpp"

using namespace hornbeam;

namespace {

/// colour in {a, b} / size <= 7 / colour in {a}, in brief: b follows from the root.
FlatTree small_tree() {
    FlatTree tree;
    tree.n_classes = 2;
    tree.kind = {2, 1, 0, 2, 0, 0, 0};
    tree.attribute = {0, 1, -1, 0, -1, -1, -1};
    tree.first_child = {1, 3, -1, 5, -1, -1, -1};
    tree.n_children = {2, 2, 0, 2, 0, 0, 0};
    tree.default_child = {0, 1, -1, 1, -1, -1, -1};
    tree.threshold.assign(7, 0.0);
    tree.threshold_integer = {0, 7, 0, 0, 0, 0, 0};
    tree.rows = {9, 6, 3, 4, 2, 1, 3};
    tree.weight = {9, 6, 3, 4, 2, 1, 3};
    tree.impurity = {0.5, 0.4, 0, 0.3, 0, 0, 0};
    tree.gain = {0.1, 0.1, 0, 0.3, 0, 0, 0};
    tree.branch_start = {0, 4, 4, 4, 5, 5, 5, 5};
    tree.branch_code = {0, 1, 2, 3, 0};
    tree.branch_child = {0, 0, 1, 1, 0};
    tree.count_start = {0, 2, 4, 5, 7, 8, 9, 10};
    tree.count_class = {0, 1, 0, 1, 1, 0, 1, 0, 1, 0};
    tree.count = {5, 4, 5, 1, 3, 3, 1, 2, 1, 3};
    return tree;
}

std::string canonical(const FlatTree &tree, std::size_t length) {
    CanonicalWords words{{"\"colour\"", "\"size\""},
                         {ThresholdText::real, ThresholdText::integer},
                         {{"\"a\"", "\"b\"", "\"c\"", "\"d\""}, {}},
                         {{}, {}},
                         {"\"no\"", "\"yes\""}};
    CanonicalText text(tree, std::move(words));
    Cancel cancel;
    std::string all, part;
    while (text.write(part, length, cancel)) {
        all += part;
        part.clear();
    }
    return all;
}

const std::string below =
    R"({"children":2,"counts":[["no",5],["yes",1]],"default":1,"test":["numeric","size",7]},)"
    R"({"children":2,"counts":[["no",3],["yes",1]],"default":1,)"
    R"("test":["subset","colour",[["a",0],["b",1]]]},)"
    R"({"counts":[["yes",1]]},{"counts":[["no",3]]},{"counts":[["no",2]]})";

} // namespace

void a_tree_is_written_in_parts_as_a_whole() {
    const std::string whole = R"([{"children":2,"counts":[["no",5],["yes",4]],"default":0,)"
                              R"("test":["subset","colour",[["a",0],["b",0],["c",1],["d",1]]]},)" +
                              below + R"(,{"counts":[["yes",3]]}])";
    for (std::size_t length : {1u, 100u, 100000u}) CHECK(canonical(small_tree(), length) == whole);
}

void a_subtree_stands_elsewhere_as_it_stood() {
    Cancel cancel;
    const TreeGraft from(small_tree());
    Forest forest;
    forest.n_classes = 2;
    forest.sets.resize(1);
    LaneRecord root;
    root.rows = 6, root.n_counts = 2, root.impurity = 0.4;
    GrownSet &grown = forest.of(0);
    for (std::uint16_t k : {0, 1}) grown.count_class.push_back(k);
    for (std::uint32_t n : {5u, 1u}) grown.count.push_back(n);
    grown.records.push_back(root);
    forest.n_nodes = 1 + from.graft(grown, 0, 1, cancel);
    CHECK(forest.n_nodes == 5);
    const FlatTree tree = forest.extract(0, 0, cancel);
    const std::uint8_t kinds[] = {2, 1};
    const std::int32_t categories[] = {4, 0};
    verify_tree(tree, kinds, categories, cancel);
    CHECK(canonical(tree, 50) == "[" + below + "]");
}
