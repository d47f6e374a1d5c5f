// Scans over sources for Python.
#include "bind.hpp"

#include <functional>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "source_plan.hpp"

namespace hornbeam {

void bind_scan(nb::module_ &m) {
    nb::class_<PlaceCounts>(m, "PlaceCounts");
    nb::class_<BoundScan>(m, "SourceScan")
        .def(nb::init<std::shared_ptr<RowLayout>, std::shared_ptr<Grid>, const nb::list &>(),
             nb::arg("layout"), nb::arg("grid"), nb::arg("places"))
        .def(
            "add",
            [](BoundScan &s, const nb::list &columns, const nb::object &classes, const nb::object &folds,
               const nb::object &weights, const nb::object &targets, std::int32_t place, bool away) {
                const HeldChunk held(*s.layout, columns, classes, folds, weights, targets);
                s.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                away ? s.scan.take_away(held.chunk, cancel, place) : s.scan.add(held.chunk, cancel, place);
            },
            nb::arg("columns"), nb::arg("classes").none(), nb::arg("folds").none() = nb::none(),
            nb::arg("weights").none() = nb::none(), nb::arg("targets").none() = nb::none(),
            nb::arg("place") = 0, nb::arg("away") = false,
            "Rows as (values, missing or None) for each column, with their classes or targets, from a place "
            "on; away: they were added before.")
        .def(
            "add_rows",
            [](BoundScan &s, const Bytes &rows, std::int32_t place) {
                if (rows.shape(0) % s.layout->stride != 0) throw std::invalid_argument("rows are not whole");
                s.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                s.scan.add_rows(rows.data(), rows.shape(0) / s.layout->stride, place, cancel);
            },
            nb::arg("rows"), nb::arg("place") = 0, "Rows that were kept, from a place on.")
        .def(
            "add_kept",
            [](BoundScan &s, const KeptRows &rows, std::int32_t place, bool away) {
                s.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                rows.store.each([&](const std::uint8_t *bytes, std::size_t n) {
                    away ? s.scan.take_rows_away(bytes, n, place, cancel)
                         : s.scan.add_rows(bytes, n, place, cancel);
                });
            },
            nb::arg("rows"), nb::arg("place") = 0, nb::arg("away") = false)
        .def(
            "send_kept",
            [](BoundScan &s, const KeptRows &rows, std::int32_t place) {
                s.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                rows.store.each([&](const std::uint8_t *bytes, std::size_t n) {
                    s.scan.send_on(bytes, n, place, cancel);
                });
            },
            nb::arg("rows"), nb::arg("place"), "Sends rows that a place has counted before on their way.")
        .def(
            "send_on",
            [](BoundScan &s, const nb::list &blocks, std::int32_t place) {
                const HeldBlocks held(*s.layout, blocks);
                s.checked(place);
                SignalCancel cancel;
                WithoutGil released(cancel);
                for (auto rows : held.rows)
                    s.scan.send_on(rows.data(), rows.size() / s.layout->stride, place, cancel);
            },
            nb::arg("rows"), nb::arg("place"), "Sends rows that a place has counted before on their way.")
        .def(
            "put_back",
            [](BoundScan &s, KeptRows &rows, std::int32_t place) {
                s.scan.at(s.checked(place)).rows.take(std::move(rows.store));
            },
            nb::arg("rows"), nb::arg("place"), "Rows that a place has counted before are kept there again.")
        .def(
            "put_bytes",
            [](BoundScan &s, const nb::bytes &rows, std::int32_t place) {
                if (rows.size() % s.layout->stride != 0) throw std::invalid_argument("rows are not whole");
                s.scan.at(s.checked(place))
                    .rows.add_bytes(*s.layout, {static_cast<const std::uint8_t *>(rows.data()), rows.size()});
            },
            nb::arg("rows"), nb::arg("place"), "The same of rows as another process has them.")
        .def("merge",
             [](BoundScan &s, BoundScan &other) {
                 SignalCancel cancel;
                 WithoutGil released(cancel);
                 s.scan.merge(std::move(other.scan));
             })
        .def(
            "fresh", [](const BoundScan &s) { return BoundScan(s, s.scan.fresh()); },
            "A scan of the same places that has seen no rows.")
        .def(
            "to_bytes",
            [](BoundScan &s, bool rows) {
                std::vector<std::uint8_t> found;
                {
                    SignalCancel cancel;
                    WithoutGil released(cancel);
                    found = s.scan.to_bytes(rows);
                }
                return nb::bytes(found.data(), found.size());
            },
            nb::arg("rows") = true,
            "All that was found, for another process to merge; without the rows that are kept, or with them.")
        .def(
            "merge_bytes",
            [](BoundScan &s, const nb::bytes &found) {
                const std::span bytes(static_cast<const std::uint8_t *>(found.data()), found.size());
                SignalCancel cancel;
                WithoutGil released(cancel);
                s.scan.merge_bytes(bytes);
            },
            nb::arg("found"), "Takes in what another scan of the same places has found.")
        .def("totals",
             [](BoundScan &s, std::int32_t p) {
                 return own_array(std::vector<std::uint64_t>(s.scan.at(s.checked(p)).totals));
             })
        .def(
            "total_sums",
            [](BoundScan &s, std::int32_t p, std::int32_t left_out) {
                return own_array(Refining(s.scan, s.checked(p), left_out).total_sums());
            },
            nb::arg("place"), nb::arg("left_out") = -1, "By class, of the rows of all folds but one.")
        .def(
            "counts",
            [](BoundScan &s, std::int32_t p, std::int32_t attribute) {
                const Place &place = s.scan.place(s.checked(p));
                const auto found = std::find(place.counted.begin(), place.counted.end(), attribute);
                if (found == place.counted.end()) throw std::invalid_argument("the attribute is not counted");
                const PlaceResult &result = s.scan.at(p);
                const auto first = result.first[static_cast<std::size_t>(found - place.counted.begin())];
                const std::size_t cells =
                    (std::size_t{s.scan.buckets(attribute).size()} + 1) * s.layout->n_joint();
                const auto begin = result.counts.begin() + static_cast<std::ptrdiff_t>(first);
                return own_array(
                    std::vector<std::uint32_t>(begin, begin + static_cast<std::ptrdiff_t>(cells)));
            },
            nb::arg("place"), nb::arg("attribute"), "[bucket, then missing][joint class], flat.")
        .def(
            "forget_watches",
            [](BoundScan &s, std::int32_t p) {
                s.scan.place(s.checked(p)).watches.clear();
                s.scan.at(p).keys.clear();
            },
            "Lets the keys that were kept go.")
        .def(
            "release", [](BoundScan &s, std::int32_t p) { s.scan.release(s.checked(p)); },
            "Lets go of all that is known of a place but its totals.")
        .def(
            "touched", [](BoundScan &s, std::int32_t p) { return s.scan.at(s.checked(p)).touched; },
            "Whether rows came to a place, or went, since `forget_touches`.")
        .def(
            "forget_touches", [](BoundScan &s) { s.scan.forget_touches(); },
            "No place counts as touched any more.")
        .def("rows_at", [](BoundScan &s, std::int32_t p) { return s.scan.at(s.checked(p)).rows.rows(); })
        .def("bytes_at", [](BoundScan &s, std::int32_t p) { return s.scan.at(s.checked(p)).rows.bytes(); })
        .def("complete", [](const BoundScan &s, std::int32_t p) { return s.scan.complete(s.checked(p)); })
        .def(
            "take_rows",
            [](BoundScan &s, std::int32_t p) {
                KeptRows kept{s.layout, std::move(s.scan.at(s.checked(p)).rows)};
                s.scan.at(p).rows = {};
                return kept;
            },
            "The rows that are kept at a place, which has none then.")
        .def(
            "take_counts", [](BoundScan &s, std::int32_t p) { return s.scan.take_counts(s.checked(p)); },
            "The counts of a place, which has none then.")
        .def(
            "count_rest",
            [](BoundScan &s, const PlaceCounts &of_both, std::int32_t counted, std::int32_t rest) {
                if (s.scan.at(s.checked(counted)).counts.size() != of_both.counts.size())
                    throw std::invalid_argument("both places count the same attributes");
                s.scan.count_rest(of_both, s.checked(counted), s.checked(rest));
            },
            nb::arg("of_both"), nb::arg("counted"), nb::arg("rest"),
            "Of a place whose rows went to two others, one of which has counted them: the counts of the "
            "other are the rest.")
        .def("gather",
             [](BoundScan &s, std::int32_t p) { return KeptRows{s.layout, s.scan.gather(s.checked(p))}; })
        .def("add_place",
             [](BoundScan &s, const nb::dict &place) {
                 return s.scan.add_place(place_of(place, *s.layout, *s.grid, s.scan.n_places()));
             })
        .def("replace_place",
             [](BoundScan &s, std::int32_t p, const nb::dict &place) {
                 s.scan.replace_place(s.checked(p), place_of(place, *s.layout, *s.grid, s.scan.n_places()));
             })
        .def(
            "lead",
            [](BoundScan &s, std::int32_t p, const nb::object &test) {
                auto &tests = s.scan.place(s.checked(p)).tests;
                tests.clear();
                if (!test.is_none())
                    tests.push_back(test_of(nb::cast<nb::dict>(test), *s.layout, s.scan.n_places()));
            },
            nb::arg("place"), nb::arg("test").none(), "The way of rows that come to a place from now on.")
        .def(
            "watch_as",
            [](BoundScan &s, std::int32_t p, BoundScan &other, std::int32_t q) {
                if (s.layout != other.layout || s.grid != other.grid)
                    throw std::invalid_argument("scans of other grids watch other buckets");
                s.scan.watch_as(s.checked(p), other.scan, other.checked(q));
            },
            nb::arg("place"), nb::arg("other"), nb::arg("of"),
            "Watches what a place of another scan watched; its rows are those of this place.")
        .def(
            "decide_by",
            [](BoundScan &s, std::int32_t p, const nb::dict &route) {
                RouteTest test = test_of(route, *s.layout, s.scan.n_places());
                s.checked(p);
                SignalCancel cancel;
                WithoutGil released(cancel);
                s.scan.decide(p, std::move(test), cancel);
            },
            nb::arg("place"), nb::arg("route"),
            "Gives a place its true test, as `Settled.route` has it, and sends the rows it held on their "
            "way.")
        .def(
            "place", [](BoundScan &s, std::int32_t p) { return as_dict(s.scan.place(s.checked(p))); },
            nb::arg("place"), "A place as a scan is made from it.")
        .def(
            "look_up",
            [](BoundScan &s, std::int32_t p, const nb::list &watches) {
                std::vector<Watch> given;
                for (nb::handle watch : watches) given.push_back(watch_of(*s.grid, watch));
                s.checked(p);
                SignalCancel cancel;
                WithoutGil released(cancel);
                s.scan.look_up(p, std::move(given), cancel);
            },
            nb::arg("place"), nb::arg("watches"),
            "Finds the keys of some buckets among the rows that are kept at and below a place.")
        .def(
            "look_on",
            [](BoundScan &s, const Bytes &rows, std::int32_t p, std::size_t n_watches) {
                if (s.scan.place(s.checked(p)).watches.size() < n_watches)
                    throw std::invalid_argument("so much is not looked up");
                if (rows.shape(0) % s.layout->stride != 0) throw std::invalid_argument("rows are not whole");
                SignalCancel cancel;
                WithoutGil released(cancel);
                s.scan.look_on(rows.data(), rows.shape(0) / s.layout->stride, p, n_watches, cancel);
            },
            nb::arg("rows"), nb::arg("place"), nb::arg("n_watches"),
            "The same for the last watches, among rows that were put away.")
        .def("counted",
             [](BoundScan &s, std::int32_t p) { return !s.scan.place(s.checked(p)).counted.empty(); })
        .def("keeps", [](BoundScan &s, std::int32_t p) { return s.scan.place(s.checked(p)).keeps; })
        .def_prop_ro("n_places", [](const BoundScan &s) { return s.scan.n_places(); })
        .def_prop_ro("weighted", [](const BoundScan &s) { return s.layout->sums.weighted(); })
        .def_prop_ro("bytes", [](const BoundScan &s) { return s.scan.bytes(); })
        .def_prop_ro("rows_kept", [](const BoundScan &s) { return s.scan.rows_kept(); });
}

} // namespace hornbeam
