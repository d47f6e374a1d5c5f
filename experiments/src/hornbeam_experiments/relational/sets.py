"""The relational sets of both papers, with their published language biases, and what of them is at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hornbeam.datasets import make_bongard
from hornbeam.datasets.loading import DIRECTORY_VARIABLE
from hornbeam.errors import StorageError, UsageError
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from hornbeam.relational.database import Coded

SEED = 7  # of the generated sets
SHAPES = ("triangle", "square", "circle")
ELEMENTS = "[br, c, cl, f, h, i, n, o, s]"
ATOM_TYPES = (
    "[1, 3, 8, 10, 14, 16, 19, 21, 22, 25, 26, 27, 28, 29, 31, 32, 34, 35, 36, 38, 40, 41, 42, 45, 49, 50, "
    "51, 52, 72, 92, 93, 94, 95, 194, 195, 230, 232]"
)


@dataclass(frozen=True)
class PaperSet:
    """A set of the papers: its name there, how many examples it has, how ours differs, how it is read."""

    title: str
    examples: int
    read: Callable[[], Loaded] = field(repr=False)
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A set that is read: what is grown from, and how."""

    title: str
    data: RelationalData
    bias: Bias
    criterion: str
    min_samples_leaf: int

    @cached_property
    def coded(self) -> Coded:
        return self.data.coded(self.bias)

    @property
    def n_examples(self) -> int:
        return self.coded.examples.n


def bongard(theory: str, title: str) -> Loaded:
    """Pictures, each shape a predicate of its own."""
    made = make_bongard(theory=theory, seed=SEED).tables
    objects = made["object"]
    tables = {shape: _where(objects, "shape", shape, ("picture_id", "object_id")) for shape in SHAPES}
    turned = objects.filter(pc.is_valid(objects["orientation"]))
    tables["in"] = made["inside"]
    tables["config"] = turned.select(["picture_id", "object_id", "orientation"])
    types = {f"{name}.{column}": "obj" for name in tables for column in _objects(tables[name])}
    data = RelationalData.from_frames(
        {"picture": made["picture"], **tables},
        {"picture": "picture_id"},
        {name: {"picture_id": "picture"} for name in tables},
        target="picture.class",
        types=types,
    )
    text = "\n".join(
        [
            "target('picture.class'). key(pic).",
            *(f"type({shape}(pic, obj))." for shape in SHAPES),
            "type(in(pic, obj, obj)). type(config(pic, obj, conf)).",
            *(f"rmode(5: {shape}(+P, +-S))." for shape in SHAPES),
            "rmode(5: in(+P, +S, +-T)). rmode(5: in(+P, +-S, +T)). rmode(5: config(+P, +S, #[up, down])).",
        ]
    )
    return Loaded(title, data, Bias.from_text(text), "entropy", 2)


def _objects(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.endswith("object_id")]


def _where(table: pa.Table, column: str, value: str, kept: Sequence[str]) -> pa.Table:
    return table.filter(pc.equal(table[column], value)).select(list(kept))


def machines() -> Loaded:
    tables = {name: read_table(f"machines/{name}") for name in ("machine", "worn", "component")}
    parts = tables["component"]
    frames = {
        "machine": tables["machine"],
        "replaceable": _where(parts, "replaceable", "yes", ("component",)),
        "not_replaceable": _where(parts, "replaceable", "no", ("component",)),
        "worn": tables["worn"],
    }
    named = ("replaceable", "not_replaceable", "worn")
    data = RelationalData.from_frames(
        frames,
        {"machine": "machine_id"},
        {"worn": {"machine_id": "machine"}},
        target="machine.action",
        types={f"{name}.component": "comp" for name in named},
    )
    text = """target('machine.action'). key(machine).
    type(replaceable(comp)). type(not_replaceable(comp)). type(worn(machine, comp)).
    rmode(replaceable(+X)). rmode(not_replaceable(+X)). rmode(worn(+K, +-X))."""
    return Loaded("Mach", data, Bias.from_text(text), "gain_ratio", 2)


def mutagenesis() -> Loaded:
    """Atoms and bonds of all 230 molecules; what the class follows from (log_mutag) is not read."""
    molecules = read_table("mutagenesis/molecule").select(["molecule_id", "class"])
    atoms = read_table("mutagenesis/atom").select(
        ["molecule_id", "atom_id", "element", "atom_type", "charge"]
    )
    bonds = read_table("mutagenesis/bond")
    turned = bonds.select(["molecule_id", "atom2_id", "atom1_id", "bond_type"])
    both = pa.concat_tables([bonds, turned.rename_columns(bonds.column_names)])
    data = RelationalData.from_frames(
        {"molecule": molecules, "atom": atoms, "sbond": both},
        {"molecule": "molecule_id"},
        {"atom": {"molecule_id": "molecule"}, "sbond": {"molecule_id": "molecule"}},
        target="molecule.class",
        types={"atom.atom_id": "id", "sbond.atom1_id": "id", "sbond.atom2_id": "id"},
    )
    text = f"""target('molecule.class'). key(mol).
    type(atom(mol, id, element, type, charge)). type(sbond(mol, id, id, bondtype)).
    rmode(atom(+M, -A, -E, #{ATOM_TYPES}, -C)).
    rmode(atom(+M, -A, #{ELEMENTS}, -T, -C)).
    rmode(atom(+M, -A, +-E, -T, -C)).
    rmode(sbond(+M, +A, +-B, -T)).
    lookahead(sbond(M, A, B, T), T = #[1, 2, 3, 4, 5, 7]).
    lookahead(sbond(M, A, B, T), atom(M, B, #{ELEMENTS}, _, _)).
    lookahead(sbond(M, A, B, T), atom(M, B, _, #{ATOM_TYPES}, _)).
    lookahead(sbond(M, A, B, T), sbond(M, B, +-D, _)).
    max_lookahead(1)."""
    return Loaded("Muta", data, Bias.from_text(text), "entropy", 4)


def read_table(name: str) -> pa.Table:
    """A table of the relational sets."""
    from pyarrow import csv

    folder = os.environ.get(DIRECTORY_VARIABLE)
    file = Path(folder or "") / "relational" / f"{name}.csv.gz"
    if not folder or not file.is_file():
        raise StorageError(
            f"no {name}.csv.gz; set {DIRECTORY_VARIABLE} to the directory that has relational/"
        )
    options: dict[str, Any] = {"strings_can_be_null": True, "null_values": [""]}
    if name in ("machines/machine", "machines/worn"):  # keys are names, whatever they look like
        options["column_types"] = {"machine_id": pa.string()}
    return csv.read_csv(file, convert_options=csv.ConvertOptions(**options))


SETS = (
    PaperSet("SB", 1453, lambda: bongard("simple", "SB"), "STAND-IN: the paper's was never published"),
    PaperSet("CB", 1521, lambda: bongard("complex", "CB"), "STAND-IN: the paper's was never published"),
    PaperSet("Muta", 230, mutagenesis, "atoms and bonds"),
    PaperSet("Mach", 15, machines),
)
PRIVATE = ("ASM", 999, "PRIVATE: kindly provided to the authors, never published; no row")


def choose(names: Sequence[str] | None) -> tuple[PaperSet, ...]:
    """The sets of those names, in any case; all without names."""
    if not names:
        return SETS
    known = {entry.title.casefold(): entry for entry in SETS}
    wanted = [name.strip().casefold() for name in names]
    unknown = [name for name, folded in zip(names, wanted, strict=True) if folded not in known]
    if unknown:
        listed = ", ".join(entry.title for entry in SETS)
        raise UsageError(f"there is no relational set {unknown[0].strip()!r}; the sets are {listed}")
    return tuple(entry for entry in SETS if entry.title.casefold() in wanted)
