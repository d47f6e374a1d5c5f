// Room that scans by information use again and again.
#pragma once

#include <cstdint>
#include <vector>

namespace hornbeam {

struct InformationScratch {
    /// Rows of a class on both sides of a cut.
    struct Sides {
        std::int32_t left, right;
    };
    std::vector<Sides> sides, sides_before;         // of each class
    std::vector<std::uint64_t> words, words_before; // the same, the right side in the upper half

    /// The class counts of a node, their content, and phi by what is on the left, in whole units of
    /// FixedXlog: of the rows of the node, and of its two classes where there are two.
    std::vector<std::int64_t> node;
    double content = 0.0;
    std::vector<std::int32_t> phi, phi_of_zeros, phi_of_ones;

    /// Of a counted attribute: the values behind which there is a cut, the rows on the left there, the sum of
    /// phi_k and phi of the node.
    std::vector<std::uint32_t> values;
    std::vector<std::int32_t> lefts, sums, phis, cuts;
};

} // namespace hornbeam
