"""Files of ACE written from data and a bias give the same tree when they are read back."""

from pathlib import Path

import pytest

from hornbeam import RelationalData, RelationalTreeClassifier
from hornbeam.errors import UsageError
from tests.unit.relational.ace_files import (
    BONGARD,
    MACHINES,
    MUTAGENESIS,
    MUTAGENESIS_BACKGROUND,
    facts_of,
    write,
)
from tests.unit.relational.test_data import BANK, KEYS, REFERENCES, bank

SETS = {
    "machines": (MACHINES, None),
    "bongard": (BONGARD, None),
    "mutagenesis": (MUTAGENESIS, MUTAGENESIS_BACKGROUND),
}


@pytest.mark.parametrize("name", SETS)
def test_what_was_read_is_written_and_read_back(tmp_path: Path, name: str) -> None:
    settings, background = SETS[name]
    first = RelationalData.from_ace(write(tmp_path, settings, background=background), facts=facts_of(name))
    first.to_ace(tmp_path / "again.s")
    again = RelationalData.from_ace(tmp_path / "again.s")
    assert again.bias is not None
    assert first.bias is not None
    assert again.bias.to_text() == first.bias.to_text()
    trees = [RelationalTreeClassifier(db.bias, **first.parameters).fit(db).tree_ for db in (first, again)]
    assert trees[0].nodes == trees[1].nodes


FILLED = {
    **BANK,
    "loan": {**BANK["loan"], "amount": [5.5, 1.0, 2.0]},
    "orders": {**BANK["orders"], "state": ["late", "paid", "paid", "late"]},
}


def test_linked_tables_are_written_with_keys_and_thresholds(tmp_path: Path) -> None:
    data = RelationalData.from_frames(FILLED, KEYS, REFERENCES, target="loan.status")
    data.to_ace(tmp_path / "bank.s", min_samples_leaf=1, criterion="entropy")
    text = (tmp_path / "bank.s").read_text()
    assert "type(item(loan, orders, item_weight))." in text
    assert "minimal_cases(1)." in text
    assert "heuristic(gain)." in text
    again = RelationalData.from_ace(tmp_path / "bank.s")
    assert again.parameters == {"lookahead": 1, "min_samples_leaf": 1, "criterion": "entropy"}
    models = [
        RelationalTreeClassifier(bias, min_samples_leaf=1, prune=None).fit(db)
        for db, bias in ((data, data.default_bias()), (again, again.bias))
    ]
    assert models[0].get_n_leaves() == models[1].get_n_leaves() == 2
    assert models[0].predict(data).tolist() == models[1].predict(again).tolist()


def test_thresholds_of_lookaheads_are_written(tmp_path: Path) -> None:
    settings = (
        "predict(c(+m,-x)). type(p(m,n)). rmode(p(+M,-N)).\n"
        "lookahead(p(M,N), #(C: threshold(p(_,N),[N],C), N > C))."
    )
    data = RelationalData.from_ace(write(tmp_path, settings, "c(a,u). c(b,v). p(a,1). p(b,2.5)."))
    data.to_ace(tmp_path / "again.s")
    assert RelationalData.from_ace(tmp_path / "again.s").bias == data.bias


def test_null_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"to_ace: loan.amount holds NULL, which facts cannot; exclude the column"
    ):
        bank().to_ace(tmp_path / "bank.s")
