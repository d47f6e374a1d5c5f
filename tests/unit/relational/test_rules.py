"""Background rules: Datalog equals plain evaluation and Prolog; what is more goes to swipl or is refused."""

import itertools
import shutil
import warnings
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hornbeam.errors import DataError, HornbeamError
from hornbeam.relational.ace.datalog import derive
from hornbeam.relational.ace.facts import Knowledge, Row, read_facts
from hornbeam.relational.ace.swipl import Given, solve
from hornbeam.relational.ace.tokens import PrologText
from hornbeam.relational.data import RelationalData
from tests.unit.relational.ace_files import write
from tests.unit.relational.test_data import rows_of

needs_swipl = pytest.mark.skipif(
    shutil.which("swipl") is None, reason="swipl is not installed: apt-get install swi-prolog-nox"
)
EDGES = "e(a,b). e(b,c). e(c,c). n(a,1). n(b,2). n(c,2.5). mark(b). "


def knowledge(text: str) -> Knowledge:
    known = Knowledge()
    read_facts(PrologText("rules", text), known, models=False)
    return known


def rows(text: str, name: str, arity: int) -> list[Row]:
    found = derive(knowledge(text), [(name, arity)], 10.0, lambda _: Given((), ()))
    return found[name, arity]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("t(X,Z) :- e(X,Y), e(Y,Z).", [("a", "c"), ("b", "c"), ("c", "c")]),
        ("t(X,Y) :- e(X,Y) ; e(Y,X).", [("a", "b"), ("b", "c"), ("c", "c"), ("b", "a"), ("c", "b")]),
        ("t(X,X) :- e(X,X).", [("c", "c")]),
        ("t(X,k) :- mark(X).", [("b", "k")]),
        ("t(X,Y) :- e(X,Y), \\+ mark(X).", [("a", "b"), ("c", "c")]),
        ("t(X,Y) :- e(X,Y), not(e(Y,Y)).", [("a", "b")]),
        ("t(X,Y) :- e(X,Y), \\+ n(_,X).", [("a", "b"), ("b", "c"), ("c", "c")]),
        ("t(X,Y) :- \\+ mark(Y), e(X,Y).", [("b", "c"), ("c", "c")]),
        ("t(X,N) :- n(X,N), N > 1, N =< 2.5, X \\= c.", [("b", 2)]),
        ("t(X,M) :- n(X,N), M is N * 2 + 1.", [("a", 3), ("b", 5), ("c", 6.0)]),
        ("t(X,Y) :- e(X,Z), Y = Z.", [("a", "b"), ("b", "c"), ("c", "c")]),
        ("t(X,Y) :- member(Y,[1,z]), mark(X).", [("b", 1), ("b", "z")]),
        ("t(X,Y) :- e(X,Y), member(X,[a,c]).", [("a", "b"), ("c", "c")]),
        ("t(X,Y) :- (mark(X) ; n(X,1)), e(X,Y), true.", [("b", "c"), ("a", "b")]),
        ("t(X,Y) :- e(X,Y), fail.", []),
        ("t(a,b). t(X,Y) :- e(X,Y), mark(X).", [("a", "b"), ("b", "c")]),
        ("u(X,Y) :- e(X,Y), mark(Y). t(X,Y) :- u(X,Y). t(X,X) :- v(X). v(X) :- \\+ u(_,X), n(X,_).", None),
        ("t(X,Y) :- n(X,N), n(Y,M), N < M.", [("a", "b"), ("a", "c"), ("b", "c")]),
        ("t(X,Y) :- e(X,Y), X == Y.", [("c", "c")]),
        ("t(b,Y) :- mark(b), Y is 9223372036854775807 // 2.", [("b", 4611686018427387903)]),
        ("t(X,Y) :- member(X,[7,-7]), Y is X // 2, mark(b).", [(7, 3), (-7, -3)]),
    ],
)
def test_rules_give_their_rows(rule: str, expected: list[Row] | None) -> None:
    expected = [("a", "b"), ("a", "a"), ("c", "c")] if expected is None else expected
    found = rows(EDGES + rule, "t", 2)
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert len(set(found)) == len(found)


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[tuple[str, tuple[str, ...], bool]], tuple[str, ...], str]:
    """A rule over two random relations, as text and in parts: literals (with negations last), head."""
    facts = "".join(
        f"{name}({','.join(row)}). "
        for name in ("p", "q")
        for row in draw(st.lists(st.tuples(*[st.sampled_from("abc")] * 2), max_size=6))
    )
    arg = st.sampled_from(["X", "Y", "Z", "a", "b"])
    body = draw(
        st.lists(
            st.tuples(st.sampled_from(["p", "q"]), st.tuples(arg, arg), st.booleans()), min_size=1, max_size=4
        )
    )
    head = draw(st.tuples(arg, arg))
    text = ", ".join(
        f"{'' if positive else chr(92) + '+ '}{name}({','.join(args)})" for name, args, positive in body
    )
    return facts, body, head, f"t({','.join(head)}) :- {text}."


def plainly(facts: str, body: list[tuple[str, tuple[str, ...], bool]], head: tuple[str, ...]) -> set[Row]:
    """Every assignment of the variables, one by one."""
    true = {part.strip() for part in facts.split(". ") if part.strip()}
    names = sorted(
        {arg for _, args, _ in body for arg in args if arg.isupper()} | {a for a in head if a.isupper()}
    )
    found: set[Row] = set()
    for chosen in itertools.product("abc", repeat=len(names)):
        value = dict(zip(names, chosen, strict=True))

        def holds(name: str, args: tuple[str, ...], value: dict[str, str] = value) -> bool:
            return f"{name}({','.join(value.get(arg, arg) for arg in args)})" in true

        if all(holds(name, args) == positive for name, args, positive in body):
            found.add(tuple(value.get(arg, arg) for arg in head))
    return found


@given(programs())
def test_any_safe_rule_equals_trying_all_values(
    program: tuple[str, list[tuple[str, tuple[str, ...], bool]], tuple[str, ...], str],
) -> None:
    facts, body, head, rule = program
    bound = {arg for _, args, positive in body if positive for arg in args if arg.isupper()}
    used = {arg for _, args, _ in body for arg in args if arg.isupper()} | {
        arg for arg in head if arg.isupper()
    }
    assume(used <= bound)
    assert set(rows(facts + rule, "t", 2)) == plainly(facts, body, head)


@needs_swipl
@settings(max_examples=15, deadline=None)
@given(programs())
def test_any_safe_rule_equals_prolog(
    program: tuple[str, list[tuple[str, tuple[str, ...], bool]], tuple[str, ...], str],
) -> None:
    facts, body, head, _ = program
    bound = {arg for _, args, positive in body if positive for arg in args if arg.isupper()}
    used = {arg for _, args, _ in body for arg in args if arg.isupper()} | {
        arg for arg in head if arg.isupper()
    }
    assume(used <= bound)
    # Prolog asks in the written order, so negations stand behind what binds their variables.
    ordered = sorted(body, key=lambda literal: not literal[2])
    text = ", ".join(
        f"{'' if yes else chr(92) + '+ '}{name}({','.join(args)})" for name, args, yes in ordered
    )
    known = knowledge(facts + f"t({','.join(head)}) :- {text}.")
    for name in ("p", "q"):
        known.rows.setdefault((name, 2), [])
    asked = solve(known, {("t", 2): Given((), ())}, 30.0, DataError("why"))
    assert set(asked["t", 2]) == set(rows(facts + f"t({','.join(head)}) :- {text}.", "t", 2))


REFUSED = [
    (
        "t(X,Y) :- e(X,Y). t(X,Z) :- e(X,Y), t(Y,Z).",
        r"rules, line 1, column \d+: the rule for t\(X,Y\) is refused: it is recursive",
    ),
    (
        "t(X,Y) :- u(X,Y). u(X,Y) :- v(X,Y). v(X,Y) :- u(Y,X).",
        r"the rule for u\(X,Y\) is refused: it is recursive",
    ),
    ("t(X,Y) :- mark(X).", r"the rule for t\(X,Y\) is refused: Y gets no value in its body"),
    ("t(X,Y) :- e(X,Y), \\+ n(Z,Y), Z = Z.", r"is refused: a variable of Z = Z is unbound"),
    ("t(X,Y) :- e(X,Y), \\+ e(Z,Z).", r"the rule for t\(X,Y\) is refused: Z stands only under a negation"),
    ("t(X,Y) :- e(X,Y), N > 1.", r"is refused: a variable of N > 1 is unbound"),
    ("t(X,Y) :- e(X,Y), !.", r"is refused: '!' is no literal of a table"),
    ("t(X,Y) :- (e(X,Y) -> true ; fail).", r"is refused: .* is no literal of a table"),
    ("t(X,f(Y)) :- e(X,Y).", r"is refused: f\(Y\) is neither a variable nor a constant"),
    ("t(X,Y) :- findall(Z, e(X,Z), Y).", r"is refused: findall.* is no literal of a table"),
    ("t(X,_).", r"the rule for t\(X,_\) is refused: "),
    ("t(X,Y) :- e(X,Y), " + ", ".join(["(mark(X);mark(Y))"] * 12) + ".", r"more than 256 alternatives"),
]


@pytest.mark.parametrize(("rule", "message"), REFUSED)
def test_rules_that_are_more_are_refused_where_there_is_no_prolog(
    monkeypatch: pytest.MonkeyPatch, rule: str, message: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(DataError, match=message) as caught:
        rows(EDGES + rule, "t", 2)
    assert "\n" not in str(caught.value)
    assert "SWI-Prolog" in str(caught.value)


def test_rules_that_nobody_asks_for_are_not_refused() -> None:
    assert rows(EDGES + "t(X,Y) :- e(X,Y). loop(X) :- loop(X).", "t", 2) == [
        ("a", "b"),
        ("b", "c"),
        ("c", "c"),
    ]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("t(X,M) :- e(X,Y), M is Y + 1.", r"'b' is no number"),
        ("t(X,M) :- n(X,N), M is N / 0.", r"/ has no result: division by zero"),
        ("t(X,M) :- n(X,N), M is foo(N).", r"a number is needed"),
        ("t(X,M) :- n(X,N), M is N // 2.", r"// divides integers only"),
    ],
)
def test_arithmetic_without_a_result_is_refused(rule: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        rows(EDGES + rule, "t", 2)


@needs_swipl
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            "t(X,Y) :- e(X,Y). t(X,Z) :- e(X,Y), X \\== Y, t(Y,Z).",
            [("a", "b"), ("a", "c"), ("b", "c"), ("c", "c")],
        ),
        ("t(X,N) :- n(X,_), findall(Y, e(X,Y), L), length(L, N).", [("a", 1), ("b", 1), ("c", 1)]),
        ("t(X,'Two Words') :- mark(X), !.", [("b", "Two Words")]),
        (
            "t(X,N) :- u(X,N). u(X,N) :- n(X,M), (M > 1 -> N = big ; N = small).",
            [("a", "small"), ("b", "big"), ("c", "big")],
        ),
    ],
)
def test_prolog_rules_are_worked_out_by_swipl(rule: str, expected: list[Row]) -> None:
    assert sorted(rows(EDGES + rule, "t", 2)) == sorted(expected)


@needs_swipl
def test_prolog_that_does_not_end_is_stopped() -> None:
    known = knowledge("t(X) :- t(X), mark(X). mark(a). loop :- loop. t(X) :- loop, mark(X).")
    with pytest.raises(
        DataError, match=r"did not work it out within 0.5 seconds|swipl says: .*[Ss]tack"
    ) as caught:
        derive(known, [("t", 1)], 0.5, lambda _: Given((), ()))
    assert "\n" not in str(caught.value)


@needs_swipl
def test_errors_of_prolog_are_one_line() -> None:
    for text in ("t(X) :- undefined(X), !.", "t(X) :- !, X = f(_).", "t(X) :- Y is a + 1, X = Y, !."):
        with pytest.raises(DataError, match=r"is refused: .*; swipl says: ") as caught:
            derive(knowledge(text), [("t", 1)], 20.0, lambda _: Given((), ()))
        assert "\n" not in str(caught.value)


SETTINGS = """
predict(c(+m,-x)). type(c(m,x)). type(part(m,o)). type(weight(m,o,w)). type(near(m,o,o)).
type(heavy(m,o)). type(size(o,n)).
rmode(part(+M,-O)). rmode(heavy(+M,+O)). rmode(near(+M,+O,-P)). rmode(weight(+M,+O,-W)).
"""
PARTS = (
    "c(1,u). c(2,v). part(1,a). part(1,b). part(2,c). weight(1,a,3). weight(1,b,9). weight(2,c,9). size(z,1)."
)


def load(folder: Path, background: str) -> RelationalData:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RelationalData.from_ace(write(folder, SETTINGS, PARTS, background))


def test_derived_relations_belong_to_their_examples(tmp_path: Path) -> None:
    coded = load(
        tmp_path, "heavy(M,O) :- weight(M,O,W), W > 5. near(M,O,P) :- part(M,O), part(M,P), O \\= P."
    ).coded()
    assert rows_of(coded, "heavy") == [(1, 1, "b"), (2, 2, "c")]
    assert rows_of(coded, "near") == [(1, 1, "a", "b"), (1, 1, "b", "a")]
    assert coded.relations["heavy"].key == 0


@needs_swipl
def test_prolog_is_asked_with_the_values_of_an_example_where_modes_want_them(tmp_path: Path) -> None:
    background = (
        "heavy(M,O) :- nonvar(M), nonvar(O), ( weight(M,O,W), W > 5 -> true ; O = z ).\n"
        "near(M,O,O) :- part(M,O)."
    )
    coded = load(tmp_path, background).coded()
    assert sorted(rows_of(coded, "heavy")) == [(1, 1, "b"), (1, 1, "z"), (2, 2, "c"), (2, 2, "z")]


def test_a_refused_rule_is_named_where_the_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(
        HornbeamError, match=r"app.bg', line 2, column 1: the rule for heavy\(M,O\) is refused: it is rec"
    ):
        load(tmp_path, "% rules\nheavy(M,O) :- near(M,O,P), heavy(M,P). near(M,O,O) :- part(M,O).")
