"""Model files of trees that look ahead and of searches that can go on: which parameters they may have."""

from __future__ import annotations

LOOKAHEAD, ANYTIME = "LookaheadTreeClassifier", "AnytimeTreeClassifier"
SEARCHED = (LOOKAHEAD, ANYTIME)

_BOTH = {"nominal", "nominal_features", "max_time", "max_work", "prune", "random_state", "n_jobs"}
SEARCHED_PARAMETERS = {
    LOOKAHEAD: _BOTH | {"r", "sample_fraction"},
    ANYTIME: _BOTH | {"objective", "granularity", "max_iter", "referee"},
}
