"""Prolog text: terms, operators, escapes; and files that are hostile or broken get one clear line."""

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hornbeam.errors import DataError, StorageError
from hornbeam.relational.ace.reader import DEPTH, Clause, Fact, read_clauses, read_term
from hornbeam.relational.ace.terms import (
    Atom,
    Compound,
    ListTerm,
    Number,
    Term,
    Var,
    parts_of,
    show,
    value_of,
)
from hornbeam.relational.ace.tokens import PrologText, read_source


def term(text: str) -> Term:
    return read_term(PrologText("text", text + "."))


def clauses(text: str) -> list[Fact | Clause]:
    return list(read_clauses(PrologText("text", text)))


X, Y = Var("X"), Var("Y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p", Atom("p")),
        ("'two words'", Atom("two words")),
        ("'it''s'", Atom("it's")),
        (r"'a\nb\x41\\\'", Atom("a\nbA\\")),
        ("[]", Atom("[]")),
        ("[a,B|C]", ListTerm((Atom("a"), Var("B")), Var("C"))),
        ("-3", Number(-3)),
        ("- 3", Compound("-", (Number(3),))),
        ("1.5e3", Number(1500.0)),
        ("0'a", Number(97)),
        ("0x1F", Number(31)),
        ("1_000", Number(1000)),
        ("-9223372036854775808", Number(-(2**63))),
        ("X-1", Compound("-", (X, Number(1)))),
        ("X - -1", Compound("-", (X, Number(-1)))),
        ("1-2-3", Compound("-", (Compound("-", (Number(1), Number(2))), Number(3)))),
        ("1+2*3", Compound("+", (Number(1), Compound("*", (Number(2), Number(3)))))),
        ("X is Y mod 2", Compound("is", (X, Compound("mod", (Y, Number(2)))))),
        ("\\+ p(X)", Compound("\\+", (Compound("p", (X,)),))),
        ("5: p(+X)", Compound(":", (Number(5), Compound("p", (Compound("+", (X,)),))))),
        ("5:#(C: m(C), p(C))", Compound(":", (Number(5), term("#(C: m(C), p(C))")))),
        ("f(+-X, -Y, #, #[a])", Compound("f", (term("+-X"), term("-Y"), Atom("#"), term("#[a]")))),
        ("f(+, -)", Compound("f", (Atom("+"), Atom("-")))),
        ("(a , b)", Compound(",", (Atom("a"), Atom("b")))),
        ("a :- b ; c", Compound(":-", (Atom("a"), Compound(";", (Atom("b"), Atom("c")))))),
        ("größe(ä)", Compound("größe", (Atom("ä"),))),
    ],
)
def test_terms_are_read_as_prolog_reads_them(text: str, expected: Term) -> None:
    assert term(text) == expected


def test_plain_facts_and_others_are_read_alike() -> None:
    found = clauses(
        "p(a,-1,2.5).\np( 'a' , -1 , 2.5 ). % the same\n/* and */ p(a,-1,25.0e-1).\nq.\nr([a,'B'],f(x))."
    )
    assert isinstance(found[0], Fact)
    assert found[0].values == ("a", -1, 2.5)
    for clause in found[1:3]:
        assert isinstance(clause, Clause)
        assert isinstance(clause.term, Compound)
        assert tuple(map(value_of, clause.term.args)) == ("a", -1, 2.5)
    last = found[-1]
    assert isinstance(last, Clause)
    assert isinstance(last.term, Compound)
    assert tuple(map(value_of, last.term.args)) == ("[a,'B']", "f(x)")


def test_long_conjunctions_need_no_depth() -> None:
    found = list(parts_of(term(",".join(["p(X)"] * 5000)), ","))
    assert len(found) == 5000


@given(st.text(alphabet="abAB_ .,()[]|'\"\\0123e+-*#:=<>!;%/\n\t", max_size=40))
@example("'\\x1f\\'")
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    found: list[Fact | Clause] = []
    refused = "text, line "
    try:
        found = clauses(text)
    except DataError as error:
        refused = str(error)
    assert refused.startswith("text, line ")
    assert "\n" not in refused
    for clause in found:
        if isinstance(clause, Clause):
            assert read_term(PrologText("shown", show(clause.term) + " .")) == clause.term


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p(a).\n  p(a,.\n", r"text, line 2, column 7: the clause ends where a term is expected"),
        ("p(a).\np(b", r"text, line 2, column 4: the file ends where '\)' is expected"),
        ("p(a) q(b).", r"line 1, column 6: 'q' stands where an operator or a full stop is expected"),
        ("p(a", r"line 1, column 4: the file ends where '\)' is expected"),
        ("p(a)", r"line 1, column 5: the file ends where an operator or a full stop is expected"),
        ("p('a).\n", r"line 1, column 3: quoted text that begins here never ends"),
        ("p(a). /* x", r"line 1, column 7: a comment that begins here never ends"),
        ("p(\x00).", r"line 1, column 3: character '\\x00' has no meaning here"),
        ("p(9223372036854775808).", r"line 1, column 3: number 9223372036854775808 does not fit 64 bits"),
        ("p(" + "9" * 100_000 + ").", r"line 1, column 3: number 9{30}\.\.\. does not fit 64 bits"),
        ("p(1.0e999).", r"line 1, column 3: number 1.0e999 is too large for a double"),
        ("p(" * 5000, rf"nested more than {DEPTH} deep here"),
        ("[" * 5000, rf"nested more than {DEPTH} deep here"),
        ("p(" + "-" * 1 + "(" * 3000 + "1" + ")" * 3001 + ").", rf"nested more than {DEPTH} deep here"),
        ("p(a)) .", r"line 1, column 5: '\)' stands where an operator or a full stop is expected"),
        (r"p('\x110000\').", r"an escape in the quoted text names no character"),
        ("X = ] .", r"line 1, column 5: '\]' stands where a term is expected"),
    ],
)
def test_errors_name_line_and_column(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        clauses(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_files_may_be_compressed_and_begin_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "facts.pl.gz"
    path.write_bytes(gzip.compress("p(ä).".encode()))
    assert read_source(path).text == "p(ä)."
    path.write_bytes(b"\xef\xbb\xbfp(a).")
    assert read_source(path).text == "p(a)."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"p(a).\np(\xff\xfe).", r"line 2, column 3: this is no UTF-8 text; save it as UTF-8"),
        (gzip.compress(b"p(a)." * 99, mtime=0)[:-9], r"is a damaged gzip file"),
        (b"\x1f\x8bjunk", r"is a damaged gzip file"),
    ],
)
def test_files_that_are_no_text_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "facts.pl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_source(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot be opened: No such file"):
        read_source(tmp_path / "none.s")
