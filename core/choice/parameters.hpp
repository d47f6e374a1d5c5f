// What a growth is asked for: which tests are tried, what admits them, and where nodes stop.
#pragma once

#include <cstdint>
#include <vector>

#include "choice/avc.hpp"
#include "kernels/kernels.hpp"

namespace hornbeam {

enum class NominalMode : std::uint8_t { subset, value, multiway };

/// A number of rows, or a fraction of the training set's rows rounded up.
struct SizeRule {
    bool fraction = false;
    double value = 1.0;
    std::int64_t rows_of(std::int64_t n) const;
};

/// What admits a test, where a growth is asked for several settings of it.
struct SizeSetting {
    SizeRule min_samples_leaf{false, 1.0};
    double min_objs = -1.0; // C4.5's size; below 0: not asked for
};

struct GrowParameters {
    NominalMode nominal = NominalMode::subset;
    std::int64_t max_depth = -1; // -1: no limit
    SizeRule min_samples_split{false, 2.0};
    std::vector<SizeSetting> settings{{}}; // ascending: each asks for no less than the one before it
    double min_impurity_decrease = 0.0;
    std::size_t competitors = 0; // tests kept beside that of each node
    bool accelerate = true;      // off: the plain path everywhere; same trees
    bool joint = true;           // off: each training set looks for its cuts by itself
    bool twigs = true;           // off: no subtree is grown over lists of bytes
    CountValues counting = CountValues::where_it_pays;
    Sharing sharing = Sharing::automatic;
    int threads = 1;
    const Kernels *kernels = nullptr;
};

} // namespace hornbeam
