// Whether two trees are the same in everything that is kept of them.
#pragma once

#include "tree/tree.hpp"

inline bool same(const hornbeam::FlatCompetitors &a, const hornbeam::FlatCompetitors &b) {
    return a.start == b.start && a.kind == b.kind && a.attribute == b.attribute &&
           a.default_child == b.default_child && a.threshold == b.threshold &&
           a.threshold_integer == b.threshold_integer && a.quality == b.quality && a.gain == b.gain &&
           a.branch_start == b.branch_start && a.branch_code == b.branch_code &&
           a.branch_child == b.branch_child;
}

inline bool same(const hornbeam::FlatTree &a, const hornbeam::FlatTree &b) {
    return a.n_classes == b.n_classes && a.n_targets == b.n_targets && a.kind == b.kind &&
           a.attribute == b.attribute && a.first_child == b.first_child && a.n_children == b.n_children &&
           a.default_child == b.default_child && a.threshold == b.threshold &&
           a.threshold_integer == b.threshold_integer && a.rows == b.rows && a.weight == b.weight &&
           a.impurity == b.impurity && a.gain == b.gain && a.branch_start == b.branch_start &&
           a.branch_code == b.branch_code && a.branch_child == b.branch_child &&
           a.count_start == b.count_start && a.count_class == b.count_class && a.count == b.count &&
           a.mean == b.mean && same(a.competitors, b.competitors);
}
