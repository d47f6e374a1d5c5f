#include "ways.hpp"

#include <algorithm>

#include "check.hpp"

using namespace hornbeam;

std::string Way::describe() const {
    return "sharing " + std::to_string(static_cast<int>(sharing)) + ", " + std::to_string(together) +
           " sets together, " + std::to_string(threads) + " threads, kernels " + kernels +
           (accelerate ? "" : ", not accelerated") + (joint ? "" : ", not joint") +
           (twigs ? "" : ", without twigs") + ", counting " + std::to_string(static_cast<int>(counting)) +
           (consume ? ", table used up" : "");
}
Way Way::drawn(Draws &draws, bool repeats) {
    Way way;
    way.sharing =
        draws.one_of({Sharing::automatic, Sharing::automatic, Sharing::overlapping, Sharing::serial});
    if (!repeats && draws.chance(0.2)) way.sharing = Sharing::folds;
    way.together = way.sharing == Sharing::serial ? 1 : draws.chance(0.2) ? draws.between(2, 64) : 64;
    way.threads = static_cast<int>(draws.between(1, 4));
    way.accelerate = draws.chance(0.9);
    way.twigs = draws.chance(0.7);
    way.counting = draws.one_of({CountValues::where_it_pays, CountValues::always, CountValues::never});
    const auto kernels = kernels_available();
    way.kernels = std::string(kernels[draws.below(kernels.size())]);
    way.consume = draws.chance(0.3);
    way.joint = draws.chance(0.8);
    return way;
}

std::vector<FlatTree> grow_by(const Case &given, const Way &way) {
    Cancel cancel;
    const EncodedTable table = given.encode(cancel);
    const GrowTarget target = given.target();
    GrowParameters parameters = given.parameters;
    parameters.sharing = way.sharing, parameters.threads = way.threads;
    parameters.accelerate = way.accelerate, parameters.joint = way.joint, parameters.twigs = way.twigs;
    parameters.counting = way.counting;
    parameters.kernels = kernels_named(way.kernels);
    GrowProgress progress;
    std::vector<FlatTree> trees;
    for (std::size_t begin = 0; begin < given.n_sets; begin += way.together) {
        const TrainingSets sets(given.row_times(), begin, std::min(begin + way.together, given.n_sets),
                                way.sharing);
        EncodedTable own = table;
        const Forest forest =
            grow(given.criterion, {own, target, sets, parameters, way.consume, progress, cancel});
        for (std::int32_t s = 0; s < sets.n_sets; ++s)
            for (std::uint32_t setting = 0; setting < parameters.settings.size(); ++setting)
                trees.push_back(forest.extract(s, setting, cancel));
    }
    CHECK(progress.settled == progress.all);
    return trees;
}
