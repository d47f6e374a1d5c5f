"""A bias printed and read back is the same bias; what cannot be is refused with line and column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbeam.errors import DataError
from hornbeam.relational.bias import Bias, LookaheadDeclaration, Mode, Pattern, Placemarker, Sign

HEAD = "key(mol).\ntype(atom(mol, id, element)).\ntype(bond(mol, id, id)).\n"

values = st.one_of(
    st.text(max_size=6),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["is", "mod", "not", "dynamic", "[]", "{}", "_", "#", "+", "a'b", "\\", "Ä", "e1"]),
)
names = st.sampled_from(["mol", "is", "not", "Großes Wort", "x y", "_", "#", "a.b", "select", "Loan"])
variables = st.one_of(st.sampled_from(["A", "B", "Key", "_x", "_"]), names)


@st.composite
def places(draw: st.DrawFn) -> Placemarker:
    sign = draw(st.sampled_from(Sign))
    if sign is Sign.ANYTHING:
        return Placemarker(sign)
    if sign is Sign.CONSTANT:
        constants = draw(st.none() | st.lists(values, min_size=1, max_size=3))
        return Placemarker(sign, None, None if constants is None else tuple(constants))
    if sign is Sign.FIXED:
        return Placemarker(sign, None, (draw(values),))
    return Placemarker(sign, draw(st.none() | variables))


@st.composite
def biases(draw: st.DrawFn) -> Bias:
    """Every predicate has one type for all its columns, so that any name fits anywhere."""
    arities = draw(st.dictionaries(names, st.integers(0, 3), min_size=1, max_size=3))

    def pattern() -> Pattern:
        if draw(st.booleans()):
            name = draw(variables)
            right = draw(places())
            ordered = right.sign is not Sign.FIXED or not isinstance((right.constants or ("",))[0], str)
            comparison = draw(st.sampled_from(["=", "<=", ">"] if ordered else ["="]))
            return Pattern(comparison, (Placemarker(Sign.OLD, name), right))
        predicate = draw(st.sampled_from(sorted(arities)))
        return Pattern(predicate, tuple(draw(places()) for _ in range(arities[predicate])))

    def patterns() -> tuple[Pattern, ...]:
        return tuple(pattern() for _ in range(draw(st.integers(1, 3))))

    modes = tuple(
        Mode(patterns(), draw(st.none() | st.integers(1, 9))) for _ in range(draw(st.integers(0, 3)))
    )
    ahead = tuple(LookaheadDeclaration(pattern(), patterns()) for _ in range(draw(st.integers(0, 2))))
    types = {name: ("t",) * arity for name, arity in arities.items()}
    target = draw(st.none() | st.text(max_size=8))
    return Bias("t", types, modes, ahead, draw(st.integers(0, 4)), target)


@given(biases())
def test_what_is_printed_is_read_back_as_the_same_bias(bias: Bias) -> None:
    text = bias.to_text()
    again = Bias.from_text(text)
    assert again == bias
    assert list(again.types) == list(bias.types)
    assert again.to_text() == text
    assert str(bias) == text


def test_constants_keep_their_kind() -> None:
    mode = Mode((Pattern("p", (Placemarker(Sign.CONSTANT, None, (1, 1.0, "1", -0.5, 1e300, -7)),)),))
    again = Bias.from_text(Bias("t", {"p": ("t",)}, (mode,)).to_text())
    constants = again.modes[0].patterns[0].places[0].constants
    assert constants is not None
    assert [(type(value), value) for value in constants] == [
        (int, 1),
        (float, 1.0),
        (str, "1"),
        (float, -0.5),
        (float, 1e300),
        (int, -7),
    ]


def test_declarations_are_what_people_write() -> None:
    bias = Bias.from_text(
        HEAD
        + """
        % an atom, then what it is bound to
        rmode(5: atom(+M, -A, #[c, 'N'])).
        rmode((bond(+M, +A, -B), atom(M, B, #))).
        lookahead(bond(M, A, B), (bond(M, B, +-C), C = A)). /* a ring */
        max_lookahead(2).
        """
    )
    old, new = Sign.OLD, Sign.NEW
    first = Pattern(
        "atom", (Placemarker(old, "M"), Placemarker(new, "A"), Placemarker(Sign.CONSTANT, None, ("c", "N")))
    )
    assert bias.modes[0] == Mode((first,), 5)
    assert bias.modes[1].patterns[1] == Pattern(
        "atom", (Placemarker(old, "M"), Placemarker(old, "B"), Placemarker(Sign.CONSTANT))
    )
    then = bias.lookaheads[0].then
    assert then == (
        Pattern("bond", (Placemarker(old, "M"), Placemarker(old, "B"), Placemarker(Sign.EITHER, "C"))),
        Pattern("=", (Placemarker(old, "C"), Placemarker(old, "A"))),
    )
    assert bias.max_lookahead == 2


def test_strict_bounds_become_the_two_comparisons() -> None:
    text = (
        HEAD
        + "rmode((atom(+M, -A, -E), E < 5)). rmode((atom(+M, -A, -E), E >= 5)). "
        + "rmode((atom(+M, -A, -E), E =< 5))."
    )
    below, at_least, at_most = (mode.patterns[1] for mode in Bias.from_text(text).modes)
    assert (below.predicate, at_least.predicate, at_most.predicate) == ("<=", ">", "<=")
    assert below.places[1].constants == at_least.places[1].constants == (4.999999999999999,)
    assert at_most.places[1].constants == (5,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rmode(ring(+M, -A)).",
            r"line 4, column 7: 'ring' is no table and has no type; there are 'atom', 'bond'",
        ),
        (
            "rmode(atom(+M, -A)).",
            r"line 4, column 7: 'atom' has 3 columns \(mol, id, element\) and is given 2",
        ),
        (
            "rmode(bond(+M, +M, -B)).",
            r"line 4, column 7: M is of type 'mol' and of type 'id'; give it one type",
        ),
        (
            "\n  lookahead(bond(M, A, B), atom(M, M, _)).",
            r"line 5, column 13: M is of type 'mol' and of type 'id'",
        ),
        ("rmode(atom(+M, A, _)).", r"line 4, column 16: A has no sign and nothing before it bound it"),
        (
            "rmode(atom(+M, #x, _)).",
            r"line 4, column 17: x: behind # stands a list of constants, as #\[a,b\]",
        ),
        ("rmode(atom(+M, #[X], _)).", r"line 4, column 17: \[X\]: behind # stands a list of constants"),
        ("rmode(0: atom(+M, -A, _)).", r"line 4, column 7: 0: a mode begins with a count of at least 1"),
        ("rmode(X).", r"line 4, column 7: X is no literal; write name\(arguments\)"),
        ("rmode((atom(+M, -A, -E), E <= c)).", r"line 4, column 26: .*'c' is no number"),
        (
            "rmode((atom(+M, -A, -E), 3 <= E)).",
            r"line 4, column 26: .*a comparison has a variable on its left",
        ),
        ("rmode(atom(+M, -A, -E).", r"line 4, column 23: the clause ends where '\)' is expected"),
        ("rmode(atom(+M, f(-A), -E)).", r"line 4, column 16: .*a place holds \+X, -X"),
        (
            "lookahead((bond(M,A,B),bond(M,B,C)), atom(M,A,_)).",
            r"the first half of a lookahead is one literal",
        ),
        ("modes(atom).", r"line 4, column 1: modes\(atom\) is no declaration; allowed are target, key, type"),
        ("type(atom(mol)).", r"line 4, column 6: 'atom' has a type already; a predicate has one"),
        ("type(ring(X)).", r"line 4, column 11: X is no name"),
        ("max_lookahead(-1).", r"max_lookahead is a count of at least 0"),
        ("rmode(#(C: f(C), atom(+M, -A, C))).", r"line 4, column 12: .*constants come from member"),
    ],
)
def test_bad_declarations_are_refused_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Bias.from_text(HEAD + text)
    assert "\n" not in str(caught.value)


def test_a_bias_without_key_is_refused() -> None:
    with pytest.raises(DataError, match=r"the bias has no key\(type\)"):
        Bias.from_text("type(p(t)).")
