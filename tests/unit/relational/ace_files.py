"""Settings files of the reference biases, and the facts that go with them."""

from pathlib import Path

import pytest

from tests.real_data import ABSENT, find_folder

ELEMENTS = "[br,c,cl,f,h,i,n,o,s]"
TYPES = (
    "[1,3,8,10,14,16,19,21,22,25,26,27,28,29,31,32,34,35,36,38,40,41,42,45,49,50,51,52,72,92,93,94,95,194,"
    "195,230,232]"
)

MACHINES = """
% Worn parts.
load(key).
predict(machine(+machine,-action)).
classes([fix,ok,sendback]).
typed_language(yes).
type(replaceable(comp)).
type(not_replaceable(comp)).
type(worn(machine,comp)).
rmode(replaceable(+X)).
rmode(not_replaceable(+X)).
rmode(worn(+Key,+-X)).
"""

BONGARD = """
predict(bongard(+pic,-class)).
classes([neg,pos]).
heuristic(gain).
typed_language(yes).
type(triangle(pic,obj)). type(square(pic,obj)). type(circle(pic,obj)).
type(in(pic,obj,obj)). type(config(pic,obj,conf)).
rmode(5: triangle(+P,+-S)).
rmode(5: square(+P,+-S)).
rmode(5: circle(+P,+-S)).
rmode(5: in(+P,+S1,+-S2)).
rmode(5: config(+P,+S,#[up,down])).
"""

MUTAGENESIS = f"""
predict(class(+mol,-class)).
classes([inactive,active]).
heuristic(gain). minimal_cases(4). max_lookahead(1).
typed_language(yes).
type(atom(mol,id,element,type,charge)).
type(sbond(mol,id,id,bondtype)).
type(equals(X,X)).
rmode(atom(+M,-A,-E,#{TYPES},-Ch)).
rmode(#(E: member(E,{ELEMENTS}), atom(+M,-A,E,-T,-Ch))).
rmode(atom(+M,-A,+-E,-T,-Ch)).
rmode(sbond(+M,+A1,+-A2,-BT)).
lookahead(sbond(M,A1,A2,BT), equals(BT,#[1,2,3,4,5,7])).
lookahead(sbond(M,A1,A2,BT), atom(M,A2,#{ELEMENTS},_,_)).
lookahead(sbond(M,A1,A2,BT), atom(M,A2,_,#{TYPES},_)).
lookahead(sbond(M,A1,A2,BT), sbond(M,A2,+-A3,_)).
"""

MUTAGENESIS_BACKGROUND = """
atom(M,A,E,T,C) :- atm(M,A,E,T,C).
sbond(M,A,B,T) :- bond(M,A,B,T) ; bond(M,B,A,T).
"""


def facts_of(name: str) -> Path:
    """The published facts of a set, or a skip that says why."""
    folder = find_folder()
    path = None if folder is None else folder / "relational" / name / "facts.pl.gz"
    if path is None or not path.is_file():
        pytest.skip(ABSENT)
    return path


def write(folder: Path, settings: str, facts: str | None = None, background: str | None = None) -> Path:
    """`app.s` with what goes beside it."""
    for ending, text in (("s", settings), ("kb", facts), ("bg", background)):
        if text is not None:
            (folder / f"app.{ending}").write_text(text, encoding="utf-8")
    return folder / "app.s"
