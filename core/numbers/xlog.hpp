// m log2 m from one routine of our own, correctly rounded, so that every path and the oracle agree to the
// bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "running/cancel.hpp"

namespace hornbeam {

/// m * log2(m) rounded to the nearest double (computed in double-double; error below 2^-98 before rounding).
double exact_xlog(std::uint64_t m);
/// The same for any double from 0: negative below 1, infinite at infinity.
double exact_xlog(double x);

/// The values for 0..limit in a table; larger arguments are computed. Build one per growth.
class XlogTable {
  public:
    static constexpr std::size_t largest_table = std::size_t{1} << 22;
    XlogTable() = default;
    XlogTable(std::size_t limit, Cancel &cancel);
    double operator()(std::int64_t m) const {
        auto i = static_cast<std::size_t>(m);
        return i < table_.size() ? table_[i] : exact_xlog(i);
    }
    const double *data() const { return table_.data(); }
    std::size_t size() const { return table_.size(); }

  private:
    std::vector<double> table_{0.0};
};

} // namespace hornbeam
