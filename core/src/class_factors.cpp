// Factors of classes in units that all of them share.
#include "class_factors.hpp"

namespace hornbeam {

ClassFactors factors_of(std::span<const double> factor, int &bits) {
    ExponentSpan span;
    for (double z : factor) span.add(z);
    ClassFactors factors;
    factors.exponent = span.lowest;
    for (double z : factor) {
        Decomposed d = decompose(z);
        factors.mantissa.push_back(static_cast<std::uint64_t>(d.mantissa));
        factors.shift.push_back(d.mantissa == 0 ? 0 : static_cast<unsigned>(d.exponent - span.lowest));
    }
    bits = span.bits();
    return factors;
}

} // namespace hornbeam
