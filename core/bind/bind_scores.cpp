// Exact sums of products for Python: what scores are made of.
#include "bind.hpp"

#include <array>
#include <vector>

#include <nanobind/ndarray.h>

#include "numbers/exact_sum.hpp"

namespace hornbeam {

namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

template <int Factors> nb::bytes sum_products(const std::vector<Numbers> &columns) {
    std::array<const double *, Factors> at;
    std::array<std::int64_t, Factors> step;
    for (int f = 0; f < Factors; ++f) at[f] = columns[f].data(), step[f] = columns[f].stride(0);
    ExactSum<Factors> sum;
    bool finite = true;
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        in_stretches(columns[0].shape(0), cancel, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                std::array<double, Factors> factors;
                for (int f = 0; f < Factors; ++f) factors[f] = at[f][static_cast<std::int64_t>(i) * step[f]];
                finite &= sum.add(factors);
            }
        });
    }
    if (!finite) throw nb::value_error("a number is infinite or NaN; exact sums are of finite numbers");
    const std::vector<std::uint8_t> bytes = sum.bytes();
    return nb::bytes(bytes.data(), bytes.size());
}

nb::bytes exact_sum(const nb::typed<nb::list, nb::any> &given) {
    std::vector<Numbers> columns;
    for (nb::handle item : given) {
        if (!nb::try_cast(item, columns.emplace_back(), false))
            throw nb::value_error("a factor is not a one-dimensional array of float64");
        if (columns.back().shape(0) != columns.front().shape(0))
            throw nb::value_error("the factors are not equally many");
    }
    switch (columns.size()) {
    case 1:
        return sum_products<1>(columns);
    case 2:
        return sum_products<2>(columns);
    case 3:
        return sum_products<3>(columns);
    default:
        throw nb::value_error("one to three factors can be multiplied");
    }
}

} // namespace

void bind_scores(nb::module_ &m) {
    m.def(
        "exact_sum", &exact_sum, nb::arg("factors"),
        "The sum over rows of the products of one to three columns (float64), without any rounding: a whole "
        "number of 2^(-1074 * columns), in two's complement, the lowest byte first.");
}

} // namespace hornbeam
