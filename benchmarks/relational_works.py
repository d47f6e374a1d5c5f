"""What the relational benchmark works on: sets with their folds, the tests of a tree's nodes, molecules."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.growth import TrainingSets
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import route
from hornbeam.relational.forest import FirstOrderForest
from hornbeam.relational.growth import FirstOrderParameters, QueryEngine, grow_first_order
from hornbeam.relational.tree import prune
from hornbeam.validation import deal_classes
from hornbeam_experiments.relational.sets import Loaded, choose, read_table
from tests import real_data, relational_sets
from tests.oracle.facts import Query
from tests.oracle.first_order import Growth, Node, Settings
from tests.oracle.refinement import Refinement
from tests.relational_coding import bias_of, coded

FOLDS = 10
PLAIN, CACHED = QueryEngine(cache=False), QueryEngine()


@dataclass(frozen=True, eq=False)
class Work:
    """A set, and the training sets of ten folds dealt by class."""

    loaded: Loaded

    @cached_property
    def sets(self) -> TrainingSets:
        target = self.loaded.coded.examples.target
        assert target is not None
        fold = deal_classes(target, FOLDS, 0)
        return TrainingSets.of_rows(len(fold), (fold != i for i in range(FOLDS)), all_rows_first=True)

    def grow(self, algorithm: str, engine: QueryEngine = PLAIN) -> FirstOrderForest:
        loaded = self.loaded
        parameters = FirstOrderParameters(
            loaded.criterion, loaded.min_samples_leaf, algorithm=algorithm, engine=engine
        )
        return grow_first_order(loaded.coded, loaded.bias, parameters, self.sets)


def works(names: list[str]) -> Iterator[Work]:
    """The sets of the paper by name; real ones come from the folder of the tests."""
    folder = real_data.find_folder()
    if folder is not None:
        os.environ.setdefault("HORNBEAM_DATA", str(folder))
    for entry in choose(names):
        yield Work(entry.read())


@dataclass(frozen=True, eq=False)
class Questions:
    """Every test that growing one tree asks: at each node its query, the tests behind it, the examples."""

    problem: relational_sets.Problem
    min_samples_leaf: int
    nodes: tuple[tuple[Query, tuple[Query, ...], tuple[int, ...]], ...]

    @property
    def n_tests(self) -> int:
        return sum(len(tests) for _, tests, _ in self.nodes)

    @cached_property
    def given(self) -> tuple[object, ...]:
        database, bias = self.problem.database, self.problem.bias
        return coded(database, self.problem.classes, bias.key_type), bias_of(bias)

    def grow(self) -> FirstOrderForest:
        """The same tree by the engine, without a memory of answers."""
        parameters = FirstOrderParameters("entropy", self.min_samples_leaf, engine=PLAIN)
        return grow_first_order(*self.given, parameters)  # type: ignore[arg-type]


def questions(problem: relational_sets.Problem, min_samples_leaf: int) -> Questions:
    """Asked by the oracle, whose tree is the engine's."""
    settings = Settings("gain", min_samples_leaf)
    growth = Growth.of(problem.database, problem.bias, problem.classes, settings)
    found = []

    def visit(node: Node, query: Query, depth: int) -> None:
        if not growth.is_final(node, depth):
            tests = Refinement(problem.database, problem.bias, query).tests()
            found.append((query, tuple(tests), node.examples))
        if node.yes is not None and node.no is not None:
            visit(node.yes, query + node.test, depth + 1)
            visit(node.no, query, depth + 1)

    visit(growth.grow(), (), 0)
    return Questions(problem, min_samples_leaf, tuple(found))


MOLECULES = """
target('molecule.class'). key(mol).
type(molecule(mol, lumo, logp)). type(atom(mol, id, element, type, charge)).
type(sbond(mol, id, id, bondtype)). type(group(mol, group, kind)). type(group_atom(mol, group, id)).
rmode((molecule(+M, -L, _), L <= #)). rmode((molecule(+M, _, -P), P <= #)).
rmode(atom(+M, -A, _, #, -C)). rmode(atom(+M, -A, #, _, -C)). rmode(group(+M, -G, #)).
rmode(+C <= #). rmode(+C > #). rmode(sbond(+M, +A, -B, #)).
rmode(atom(+M, +A, _, #, -C)). rmode(atom(+M, +A, #, _, -C)). rmode(group_atom(+M, +G, -A)).
max_lookahead(0).
"""


def molecules_188() -> tuple[RelationalData, Bias, list[str]]:
    """Atoms, bonds, charges, lumo, logp and groups of the 188, and their published folds. Neither log_mutag,
    whose sign is the class, nor the indicators are read."""
    all_of_them = read_table("mutagenesis/molecule")
    chosen = all_of_them.filter(pc.equal(all_of_them["subset"], "regression_friendly_188"))
    groups = read_table("mutagenesis/group_atom")
    named = pc.binary_join_element_wise(groups["group_kind"], pc.cast(groups["group_no"], pa.string()), "_")
    named = pc.binary_join_element_wise(groups["molecule_id"], named, "_")
    groups = groups.append_column("group", named)
    bonds = read_table("mutagenesis/bond")
    turned = bonds.select(["molecule_id", "atom2_id", "atom1_id", "bond_type"])
    tables = {
        "atom": read_table("mutagenesis/atom").select(
            ["molecule_id", "atom_id", "element", "atom_type", "charge"]
        ),
        "sbond": pa.concat_tables([bonds, turned.rename_columns(bonds.column_names)]),
        "group": unique(groups.select(["molecule_id", "group", "group_kind"])),
        "group_atom": unique(groups.select(["molecule_id", "group", "atom_id"])),
    }
    keys = chosen["molecule_id"]
    tables = {name: table.filter(pc.is_in(table["molecule_id"], keys)) for name, table in tables.items()}
    data = RelationalData.from_frames(
        {"molecule": chosen.select(["molecule_id", "lumo", "logp", "class"]), **tables},
        {"molecule": "molecule_id"},
        {name: {"molecule_id": "molecule"} for name in tables},
        target="molecule.class",
        types={
            "atom.atom_id": "id",
            "sbond.atom1_id": "id",
            "sbond.atom2_id": "id",
            "group_atom.atom_id": "id",
        }
        | {"group.group": "group", "group_atom.group": "group"},
    )
    return data, Bias.from_text(MOLECULES), chosen["fold"].to_pylist()


def unique(table: pa.Table) -> pa.Table:
    return table.group_by(table.column_names, use_threads=False).aggregate([])


def accuracy_188() -> float:
    """By the published ten folds: gain, leaves of 2, C4.5's pruning."""
    data, bias, fold = molecules_188()
    given = data.coded(bias)
    names = sorted(set(fold))
    outside = [np.array([f != name for f in fold]) for name in names]
    sets = TrainingSets.of_rows(len(fold), outside)
    forest = grow_first_order(given, bias, FirstOrderParameters("entropy", 2), sets)
    target, right = given.examples.target, 0
    assert target is not None
    for i, kept in enumerate(outside):
        tree = prune(forest.tree(i), "error_based")
        held = np.flatnonzero(~kept)
        leaves = route(given, tree, held)
        right += sum(
            int(np.argmax(tree.nodes[leaf].counts)) == target[e] for leaf, e in zip(leaves, held, strict=True)
        )
    return float(right / len(fold))


def generated(theory: str, seed: int = 7) -> relational_sets.Problem:
    """Generated pictures as the oracle reads them, with the bias of the paper's stand-ins."""
    from hornbeam.datasets import make_bongard

    tables = make_bongard(theory=theory, seed=seed).tables
    objects = tables["object"].to_pylist()
    facts: dict[str, list[tuple[object, ...]]] = {
        shape: [(r["picture_id"], r["object_id"]) for r in objects if r["shape"] == shape]
        for shape in relational_sets.SHAPES
    }
    facts["config"] = [
        (r["picture_id"], r["object_id"], r["orientation"]) for r in objects if r["orientation"]
    ]
    facts["in"] = [tuple(row.values()) for row in tables["inside"].to_pylist()]
    keys = tuple(tables["picture"]["picture_id"].to_pylist())
    found = relational_sets.pictures(keys, facts, tables["picture"]["class"].to_pylist())  # type: ignore[arg-type]
    modes = found.bias.modes
    backwards = relational_sets.modes("in(+P,+-S1,+S2)", most=5)
    return replace(found, bias=replace(found.bias, modes=(*modes[:4], *backwards, *modes[4:])))
