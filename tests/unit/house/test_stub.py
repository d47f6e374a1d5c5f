"""The stub of the native module says what the compiled module holds."""

import ast
from pathlib import Path

import pytest
from nanobind.stubgen import StubGen

import hornbeam._core

pytestmark = pytest.mark.house

STUB = Path(__file__).resolve().parents[3] / "src" / "hornbeam" / "_core.pyi"


def names_and_signatures(source: str) -> str:
    """The source without docstrings, comments and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                body[0].value = ast.Constant(...)
    return ast.unparse(tree)


def test_the_stub_agrees_with_the_compiled_module() -> None:
    generator = StubGen(hornbeam._core)
    generator.put(hornbeam._core)
    compiled = names_and_signatures(generator.get())
    assert compiled == names_and_signatures(STUB.read_text()), "run `make stubs` and look at the difference"
