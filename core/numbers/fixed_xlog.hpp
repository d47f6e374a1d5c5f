// m log2 m in whole units: sums of such numbers tell most cuts of information apart, without roundings.
#pragma once

#include <cstdint>
#include <vector>

#include "numbers/xlog.hpp"

namespace hornbeam {

/// The values for 0..limit as multiples of a power of two, each off by half a unit at most. All are below
/// 2^30, so that a score, which adds up to m log2 m of a node at most, fits 32 bits. Built once a growth.
class FixedXlog {
  public:
    static constexpr double finest = 0x1p11; // with more units an entry could move a score by more than 2^17
    FixedXlog() = default;
    FixedXlog(const XlogTable &exact, std::size_t limit, Cancel &cancel);

    const std::int32_t *data() const { return table_.data(); }
    /// What one more row changes: of m rows at [m]; 0 at [-1].
    const std::int32_t *rises() const { return rises_.data() + 1; }
    /// How many units there are in one bit.
    double units() const { return units_; }

  private:
    std::vector<std::int32_t> table_, rises_;
    double units_ = finest;
};

} // namespace hornbeam
