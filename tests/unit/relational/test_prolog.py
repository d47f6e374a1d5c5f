"""Prolog of first-order trees, run by SWI-Prolog where it is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hornbeam.relational.ace.terms import atom
from hornbeam.relational.prolog import constant_term, float_term
from tests.databases import PLAIN
from tests.relational_trees import CHURN, MACHINES
from tests.relational_worlds import PREDICATES, draw_tree, draw_world, leaf_of

needs_prolog = pytest.mark.skipif(shutil.which("swipl") is None, reason="swipl is not installed")


def test_a_tree_is_a_decision_list():
    assert MACHINES.to_prolog().splitlines()[2:] == [
        "class(A, B) :- worn(A,C), not_replaceable(C), !, B = sendback.  % sendback 6",
        "class(A, B) :- worn(A,_), !, B = fix.  % fix 6",
        "class(_, B) :- !, B = ok.  % ok 3",
    ]
    first = CHURN.to_prolog().splitlines()[2]
    assert first.startswith(
        "churn(A, B) :- orders(C,A,late,_), items(_,C,D,E), number(E), E =< 12.5, products(D,toys)"
    )


def test_terms_are_quoted_where_they_must_be():
    texts = {
        "late": "late",
        "Late": "'Late'",
        "it's": "'it\\'s'",
        "a\\b": "'a\\\\b'",
        "x\ny": "'x\\ny'",
        "": "''",
    }
    assert {text: atom(text) for text in texts} == texts
    assert [float_term(x) for x in (1.0, 1e22, 1e-7, -2.5e-300)] == ["1.0", "1.0e22", "1.0e-7", "-2.5e-300"]
    assert [constant_term(x) for x in (True, 27, "\x00")] == ["true", "27", "'\\x0\\'"]


@needs_prolog
@settings(max_examples=30, deadline=None)
@given(draw=st.randoms(use_true_random=False))
def test_prolog_says_of_every_example_what_the_tree_says(draw):
    worlds = [draw_world(draw) for _ in range(3)]
    tree = draw_tree(draw)
    for world in worlds:
        said = run_prolog(world, tree)
        expected = [str(tree.answer(leaf_of(world, i, tree))) for i in range(len(world.keys))]
        assert said == expected


def run_prolog(world, tree):
    """The answer for each example. A missing value is a term that no other equals, and no number."""
    lines = [f":- dynamic {atom(p.name)}/{len(p.columns)}." for p in PREDICATES]
    lines.append(f":- discontiguous {', '.join(f'{atom(p.name)}/{len(p.columns)}' for p in PREDICATES)}.")
    missing = 0
    for predicate in PREDICATES:
        for row in world.rows[predicate.name]:
            terms = []
            for value in row:
                missing += value is None
                terms.append(f"missing({missing})" if value is None else constant_term(value))
            lines.append(f"{atom(predicate.name)}({', '.join(terms)}).")
    keys = ", ".join(constant_term(key) for key in world.keys)
    name = atom(tree.target_name)
    lines.append(tree.to_prolog())
    lines.append(f":- forall(member(K, [{keys}]), ({name}(K, B), atom_codes(B, C), writeq(C), nl)).")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "tree.pl")
        program.write_text("\n".join(lines), encoding="utf-8")
        asked = ["swipl", "-q", "-f", str(program), "-t", "halt"]
        result = subprocess.run(asked, capture_output=True, text=True, timeout=60, env=PLAIN)
    assert result.stderr == ""
    return ["".join(map(chr, json.loads(line))) for line in result.stdout.splitlines()]
