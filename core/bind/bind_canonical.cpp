// The canonical form of a tree for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <vector>

#include "bind.hpp"
#include "tree_arrays.hpp"

#include "tree/canonical.hpp"

namespace hornbeam {

namespace {

using Texts = std::vector<std::string>;

CanonicalWords words_of(Texts names, const std::vector<int> &thresholds, std::vector<Texts> labels,
                        std::vector<std::vector<std::int32_t>> ranks, Texts classes) {
    if (thresholds.size() != names.size() || labels.size() != names.size() || ranks.size() != names.size())
        throw nb::value_error("tree: every attribute needs a name, a kind of threshold, labels and ranks");
    CanonicalWords words{std::move(names), {}, std::move(labels), std::move(ranks), std::move(classes)};
    for (int threshold : thresholds) words.thresholds.push_back(static_cast<ThresholdText>(threshold));
    return words;
}

nb::bytes next_part(CanonicalText &text, std::size_t length) {
    std::string out;
    {
        SignalCancel cancel;
        WithoutGil released(cancel);
        text.write(out, length, cancel);
    }
    return nb::bytes(out.data(), out.size());
}

} // namespace

void bind_canonical(nb::module_ &m) {
    nb::class_<CanonicalText>(m, "CanonicalText", "The canonical form of a tree, written part by part.")
        .def(
            "__init__",
            [](CanonicalText *self, const nb::dict &arrays, Texts names, const std::vector<int> &thresholds,
               std::vector<Texts> labels, std::vector<std::vector<std::int32_t>> ranks, Texts classes) {
                new (self) CanonicalText(from_arrays(arrays),
                                         words_of(std::move(names), thresholds, std::move(labels),
                                                  std::move(ranks), std::move(classes)));
            },
            nb::arg("arrays"), nb::arg("names"), nb::arg("thresholds"), nb::arg("labels"), nb::arg("ranks"),
            nb::arg("classes"))
        .def("next", &next_part, nb::arg("length"),
             "So many characters of it or some more, as ASCII; none when all were written.");
}

} // namespace hornbeam
