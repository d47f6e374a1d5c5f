// Lookahead for Python: sketches as dicts of arrays.
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bind.hpp"
#include "grow_options.hpp"
#include "lookahead/lookahead.hpp"
#include "tree_arrays.hpp"

namespace hornbeam {
namespace {

using Classes = nb::ndarray<const ClassCode, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Calls `visit(name, vector)` for each array of a sketch.
template <class S, class Visit> void visit_sketch(S &s, Visit &&visit) {
    visit("kind", s.kind);
    visit("attribute", s.attribute);
    visit("default_child", s.default_child);
    visit("n_children", s.n_children);
    visit("threshold", s.threshold);
    visit("threshold_integer", s.threshold_integer);
    visit("span", s.span);
    visit("leaves", s.leaves);
    visit("start", s.start);
    visit("rows", s.rows);
    visit("gain", s.gain);
    visit("impurity", s.impurity);
    visit("usable", s.usable);
    visit("tests", s.tests);
    visit("least_domain", s.least_domain);
    visit("n_branches", s.n_branches);
    visit("branch_code", s.branch_code);
    visit("branch_child", s.branch_child);
    visit("n_counts", s.n_counts);
    visit("count_class", s.count_class);
    visit("count", s.count);
    visit("n_cuts", s.n_cuts);
    visit("cuts", s.cuts);
    visit("order", s.order);
}

/// A stop that also looks at the clock.
class TimedCancel : public SignalCancel {
  public:
    explicit TimedCancel(double seconds)
        : ends_(seconds < 1e9),
          end_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(ends_ ? std::max(seconds, 0.0) : 0.0))) {
        if (std::isnan(seconds)) throw std::invalid_argument("seconds is not a number");
    }

  protected:
    void look() override {
        SignalCancel::look();
        if (ends_ && std::chrono::steady_clock::now() >= end_) throw TimeOver();
    }

  private:
    bool ends_;
    std::chrono::steady_clock::time_point end_;
};

nb::dict sketch_arrays(Sketch &&sketch) {
    nb::dict out;
    visit_sketch(sketch, [&](const char *name, auto &values) { out[name] = own_array(std::move(values)); });
    return out;
}

/// The classes are copied; the table is kept by Python.
struct BoundLookahead {
    std::vector<ClassCode> classes;
    SignalCancel first;
    Lookahead lookahead;

    BoundLookahead(const EncodedTable &table, const Classes &codes, std::size_t n_classes,
                   const LookaheadOptions &options, const std::string &kernels)
        : classes(codes.data(), codes.data() + codes.size()),
          lookahead(table, classes, n_classes, options, kernels, first) {}
};

std::span<const std::int32_t> span_of(const Rows &rows) { return {rows.data(), rows.size()}; }

Effort effort_of(std::int64_t r, std::optional<double> sample_fraction, std::optional<std::int64_t> draws) {
    if (r < 0) throw std::invalid_argument("r is below 0");
    if (sample_fraction && !(*sample_fraction > 0.0 && std::isfinite(*sample_fraction)))
        throw std::invalid_argument("sample_fraction is not above 0 and finite");
    if (draws && *draws < 1) throw std::invalid_argument("draws is below 1");
    if (draws && sample_fraction) throw std::invalid_argument("draws and sample_fraction exclude each other");
    Effort effort;
    effort.repetitions = static_cast<std::uint64_t>(r);
    effort.sample_fraction = sample_fraction;
    if (draws) effort.draws = static_cast<std::uint64_t>(*draws);
    return effort;
}

std::optional<nb::dict> build(const BoundLookahead &b, const Rows &rows, std::uint64_t key, std::int64_t r,
                              std::optional<double> sample_fraction, std::optional<std::int64_t> draws,
                              double seconds) {
    const Effort effort = effort_of(r, sample_fraction, draws);
    TimedCancel cancel(seconds);
    Sketch sketch;
    try {
        WithoutGil released(cancel);
        sketch = b.lookahead.build(span_of(rows), key, effort, cancel);
    } catch (const TimeOver &) {
        return std::nullopt;
    }
    return sketch_arrays(std::move(sketch));
}

nb::list totals(const BoundLookahead &b, const Rows &rows, std::uint64_t key, std::int64_t r,
                std::optional<double> sample_fraction, std::optional<std::int64_t> draws) {
    const Effort effort = effort_of(r, sample_fraction, draws);
    SignalCancel cancel;
    std::vector<TestTotal> found;
    {
        WithoutGil released(cancel);
        found = b.lookahead.totals(span_of(rows), key, effort, cancel);
    }
    nb::list out;
    for (const TestTotal &t : found) {
        nb::dict d;
        d["number"] = t.number;
        d["attribute"] = t.attribute;
        d["kind"] = static_cast<int>(t.kind);
        if (t.kind == TestKind::numeric) {
            d["lo"] = t.lo;
            d["hi"] = t.hi;
        } else {
            nb::list left;
            for (std::int32_t code : t.left) left.append(code);
            d["left"] = left;
        }
        d["default_child"] = t.default_child;
        d["branches"] = t.branches;
        d["gain"] = t.gain;
        d["total"] = t.total;
        out.append(d);
    }
    return out;
}

nb::dict prove(const BoundLookahead &b, const Rows &rows, double seconds, std::size_t most_nodes,
               std::optional<std::uint32_t> upper) {
    if (upper && *upper < 1) throw std::invalid_argument("upper is below 1");
    ProofEffort effort;
    effort.most_nodes = most_nodes;
    if (upper) effort.upper = *upper;
    TimedCancel cancel(seconds);
    Proof proof;
    {
        WithoutGil released(cancel);
        proof = b.lookahead.prove(span_of(rows), effort, cancel);
    }
    nb::dict out;
    out["lower"] = proof.lower;
    out["upper"] = proof.upper == ProofEffort{}.upper ? nb::object(nb::none()) : nb::int_(proof.upper);
    out["sketch"] = proof.sketch ? nb::object(sketch_arrays(std::move(*proof.sketch))) : nb::none();
    return out;
}

} // namespace

void bind_lookahead(nb::module_ &m) {
    nb::class_<BoundLookahead>(m, "Lookahead", "Trees whose tests are judged by trees sampled below them.")
        .def(
            "__init__",
            [](BoundLookahead *self, const EncodedTable &table, const Classes &classes, std::size_t n_classes,
               const std::string &nominal, bool endings, bool aborts, bool fast, int threads,
               const std::string &kernels) {
                const LookaheadOptions options{nominal_mode(nominal), endings, aborts, fast,
                                               std::max(threads, 1)};
                new (self) BoundLookahead(table, classes, n_classes, options, kernels);
            },
            nb::keep_alive<1, 2>(), nb::arg("table"), nb::arg("classes"), nb::arg("n_classes"), nb::kw_only(),
            nb::arg("nominal") = "value", nb::arg("endings") = true, nb::arg("aborts") = true,
            nb::arg("fast") = true, nb::arg("threads") = 1, nb::arg("kernels") = "auto")
        .def("build", &build, nb::arg("rows"), nb::arg("key"), nb::arg("r"), nb::kw_only(),
             nb::arg("sample_fraction") = nb::none(), nb::arg("draws") = nb::none(),
             nb::arg("seconds") = std::numeric_limits<double>::infinity(),
             "A tree as arrays in preorder; None where the time ran out.")
        .def(
            "size",
            [](const BoundLookahead &b, const Rows &rows, std::uint64_t key) {
                SignalCancel cancel;
                WithoutGil released(cancel);
                return b.lookahead.size(span_of(rows), key, cancel);
            },
            nb::arg("rows"), nb::arg("key"), "The leaves of one sampled tree.")
        .def("totals", &totals, nb::arg("rows"), nb::arg("key"), nb::arg("r"), nb::kw_only(),
             nb::arg("sample_fraction") = nb::none(), nb::arg("draws") = nb::none(),
             "What is seen at the node of these rows: a dict for each test.")
        .def(
            "bound",
            [](const BoundLookahead &b, const Rows &rows) {
                SignalCancel cancel;
                WithoutGil released(cancel);
                return b.lookahead.bound(span_of(rows), cancel);
            },
            nb::arg("rows"), "A proved lower bound of the leaves that the rows need.")
        .def("prove", &prove, nb::arg("rows"), nb::kw_only(),
             nb::arg("seconds") = std::numeric_limits<double>::infinity(), nb::arg("most_nodes") = 1u << 20,
             nb::arg("upper") = nb::none(),
             "Bounds of the leaves that the rows need: lower, upper (None: no tree is known), and the sketch "
             "of a smaller tree than was known.");
    m.def(
        "flat",
        [](const nb::dict &arrays, std::int32_t n_classes) {
            Sketch sketch;
            visit_sketch(sketch, [&](const char *name, auto &values) { read_array(arrays, name, values); });
            return to_arrays(flat(sketch, n_classes));
        },
        nb::arg("sketch"), nb::arg("n_classes"), "A sketch as the arrays of a tree.");
}

} // namespace hornbeam
