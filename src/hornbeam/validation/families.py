"""Settings that share a growth: which trees have to be grown, and what each setting reads off them.

What chooses tests (criterion, nominal, the rows kept out) parts settings into families, grown one by one. In
a family those that differ in what admits a test (min_samples_leaf, min_objs) have a tree each, all grown
together. Settings that share such a tree only cut it, by limits of depth, size and gain, and prune it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hornbeam.growth import Cut, Cuts, Pair, Parameters, Pruning
from hornbeam.growth.grow import collapsed
from hornbeam.model import Tree
from hornbeam.validation.grid import Setting

Places = npt.NDArray[np.intp]
Prune = Callable[[Tree, Pruning], Tree]
"""What a pruning that needs rows leaves of a tree; the rows are those of the tree's training set."""


class SettingTrees(NamedTuple):
    """The trees of some settings as prefixes of one: `cuts` has one for each, None: it is the tree itself."""

    settings: Places
    tree: Tree
    cuts: Cuts | None = None
    unpruned: Tree | None = None
    """What all of them were before pruning; None: they were not pruned."""

    @property
    def n_leaves(self) -> npt.NDArray[np.int64] | int:
        return self.tree.n_leaves if self.cuts is None else self.cuts.n_leaves

    @property
    def depth(self) -> npt.NDArray[np.int64] | int:
        return self.tree.depth if self.cuts is None else self.cuts.depth

    def ends(self, leaves: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """[setting, row]: the node of `tree` that answers, given the leaves that rows reach."""
        return leaves[None, :] if self.cuts is None else self.cuts.ends.take(leaves, axis=1)

    def pair(self, k: int) -> Pair:
        """The tree of the k-th of its settings, and what it was before pruning."""
        tree = self.tree if self.cuts is None else self.cuts.tree(k)
        return Pair(tree, tree if self.unpruned is None else self.unpruned)


@dataclass(frozen=True)
class Branch:
    """Settings of a tree that cut it equally and are pruned: by each alpha, or by rows in some ways."""

    cut: Cut
    alphas: tuple[float, ...]
    of_alphas: Places
    ways: tuple[tuple[Pruning, Places], ...]


@dataclass(frozen=True)
class SharedTree:
    """Settings that read their trees off one: those that only cut it, those that prune what a cut left."""

    parameters: Parameters
    """What the shared tree is grown with."""
    cuts: tuple[Cut, ...]
    of_cuts: Places
    branches: tuple[Branch, ...]

    @property
    def settings(self) -> Places:
        """All of them."""
        ways = (places for branch in self.branches for _, places in branch.ways)
        return np.concatenate([self.of_cuts, *(branch.of_alphas for branch in self.branches), *ways])

    @property
    def only_grows(self) -> bool:
        """Whether its settings have the tree as it is grown."""
        own = Cut.of(self.parameters)
        return not self.branches and all(cut == own for cut in self.cuts)

    def readings(self, tree: Tree, prune: Prune) -> Iterator[SettingTrees]:
        """What each setting leaves of the grown tree (C4.5's as it was before its collapse)."""
        own = Cut.of(self.parameters)
        if self.cuts:
            whole = all(cut == own for cut in self.cuts)
            yield SettingTrees(self.of_cuts, tree, None if whole else Cuts(tree, self.cuts))
        cut = [branch.cut for branch in self.branches if branch.cut != own]
        left = iter(map(Cuts(tree, cut).tree, range(len(cut)))) if cut else iter(())
        for branch in self.branches:
            grown = tree if branch.cut == own else next(left)
            if self.parameters.criterion == "c45":
                grown = collapsed(grown)
            if branch.alphas:
                yield SettingTrees(branch.of_alphas, grown, Cuts(grown, alphas=branch.alphas), unpruned=grown)
            for pruning, places in branch.ways:
                yield SettingTrees(places, prune(grown, pruning), unpruned=grown)


@dataclass(frozen=True)
class SettingFamily:
    """Trees that are grown together, and the settings that read theirs off them."""

    trees: tuple[SharedTree, ...]
    holds_out: Pruning | None
    """How rows are kept out of growing, where some are."""

    @cached_property
    def only_grows(self) -> bool:
        return all(tree.only_grows for tree in self.trees)

    @property
    def parameters(self) -> list[Parameters]:
        return [tree.parameters for tree in self.trees]


def families_of(settings: Sequence[Setting], reads_gains: bool = True) -> list[SettingFamily]:
    """The settings, by what they share. `reads_gains`: limits of gain can be read off a tree."""
    numbered = list(enumerate(settings))

    def key(setting: Setting) -> Hashable:
        gain = None if reads_gains else setting.parameters.min_impurity_decrease
        return _family_key(setting), gain

    return [_family(some) for some in _grouped(numbered, key).values()]


Numbered = tuple[int, Setting]
Key = TypeVar("Key", bound=Hashable)


def _grouped(settings: Sequence[Numbered], key: Callable[[Setting], Key]) -> dict[Key, list[Numbered]]:
    groups: dict[Key, list[Numbered]] = {}
    for place, setting in settings:
        groups.setdefault(key(setting), []).append((place, setting))
    return groups


_LAX = Cut()


def _family_key(setting: Setting) -> Hashable:
    grown, pruning = setting.parameters, setting.pruning
    chooses = replace(grown, **vars(_LAX), min_samples_leaf=1, min_objs=None)
    return chooses, pruning.validation_fraction if pruning.holds_out else None


def _family(settings: list[Numbered]) -> SettingFamily:
    lax = _laxest([Cut.of(setting.parameters) for _, setting in settings])
    trees = _grouped(settings, lambda setting: replace(setting.parameters, **vars(lax)))
    pruning = settings[0][1].pruning
    return SettingFamily(
        tuple(_shared_tree(parameters, some) for parameters, some in trees.items()),
        pruning if pruning.holds_out else None,
    )


def _laxest(cuts: Sequence[Cut]) -> Cut:
    """A cut that leaves whatever one of these does."""
    depths = [cut.max_depth for cut in cuts]
    sizes = {cut.min_samples_split for cut in cuts}
    of_a_kind = len({type(size) for size in sizes}) == 1  # a share of the rows is as many as there are
    return Cut(
        max_depth=None if None in depths else max(depth for depth in depths if depth is not None),
        min_samples_split=min(sizes) if of_a_kind else _LAX.min_samples_split,
        min_impurity_decrease=min(cut.min_impurity_decrease for cut in cuts),
    )


def _shared_tree(parameters: Parameters, settings: list[Numbered]) -> SharedTree:
    # C4.5 collapses what a cut has left, so that its trees are no prefixes that cuts alone would give.
    ways = _grouped(settings, lambda setting: setting.pruning.prune or parameters.criterion == "c45")
    plain = ways.pop(False, [])
    pruned = [numbered for some in ways.values() for numbered in some]
    branches = _grouped(pruned, lambda setting: Cut.of(setting.parameters))
    return SharedTree(
        parameters,
        tuple(Cut.of(setting.parameters) for _, setting in plain),
        _places(plain),
        tuple(_branch(cut, some) for cut, some in branches.items()),
    )


def _branch(cut: Cut, settings: list[Numbered]) -> Branch:
    by_alpha = [numbered for numbered in settings if numbered[1].pruning.prune == "cost_complexity"]
    others = [numbered for numbered in settings if numbered[1].pruning.prune != "cost_complexity"]
    ways = _grouped(others, lambda setting: setting.pruning)
    return Branch(
        cut,
        tuple(setting.pruning.ccp_alpha for _, setting in by_alpha),
        _places(by_alpha),
        tuple((pruning, _places(some)) for pruning, some in ways.items()),
    )


def _places(settings: list[Numbered]) -> Places:
    return np.array([place for place, _ in settings], dtype=np.intp)
