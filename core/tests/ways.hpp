// The ways to grow the forest of a case.
#pragma once

#include "random_case.hpp"

/// How a growth is done: nothing that a tree may depend on.
struct Way {
    hornbeam::Sharing sharing = hornbeam::Sharing::serial;
    std::size_t together = 1; // sets
    int threads = 1;
    bool accelerate = false, joint = false, twigs = false, consume = false;
    hornbeam::CountValues counting = hornbeam::CountValues::never;
    std::string kernels = "plain";

    /// Drawn for training sets that have rows once, or several times.
    static Way drawn(Draws &draws, bool repeats);
    std::string describe() const;
};

/// The trees of all sets under all settings.
std::vector<hornbeam::FlatTree> grow_by(const Case &given, const Way &way);
