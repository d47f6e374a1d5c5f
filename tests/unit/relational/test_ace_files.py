"""Settings, facts and background files of ACE: what they become here, and what is refused or warned of."""

import gzip
import warnings
from pathlib import Path

import pytest

from hornbeam.errors import HornbeamError
from hornbeam.relational.bias import Bias, Mode, Pattern, Placemarker, Sign
from hornbeam.relational.data import RelationalData
from tests.unit.relational.ace_files import (
    BONGARD,
    MACHINES,
    MUTAGENESIS,
    MUTAGENESIS_BACKGROUND,
    facts_of,
    write,
)
from tests.unit.relational.test_data import rows_of

FACTS = """
machine(1,sendback). worn(1,gear). worn(1,engine).
machine(2,ok).
machine(3,fix). worn(3,gear). worn(9,gear).
replaceable(gear). not_replaceable(engine).
"""


def load(folder: Path, settings: str, facts: str = FACTS, background: str | None = None) -> RelationalData:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return RelationalData.from_ace(write(folder, settings, facts, background))


def test_machines_become_examples_relations_and_a_bias(tmp_path: Path) -> None:
    data = load(tmp_path, MACHINES)
    coded = data.coded()
    assert coded.examples.keys.tolist() == [1, 2, 3]
    assert coded.examples.classes == ("fix", "ok", "sendback")
    assert coded.examples.target is not None
    assert coded.examples.target.tolist() == [2, 1, 0]
    assert coded.examples.ties_to_last
    assert rows_of(coded, "worn") == [(1, 1, "gear"), (1, 1, "engine"), (3, 3, "gear")]
    assert coded.relations["worn"].key == 0
    assert rows_of(coded, "replaceable") == [(None, "gear")]
    assert coded.relations["replaceable"].key is None
    assert data.bias == Bias(
        "machine",
        {"replaceable": ("comp",), "not_replaceable": ("comp",), "worn": ("machine", "comp")},
        (
            Mode((Pattern("replaceable", (Placemarker(Sign.OLD, "X"),)),)),
            Mode((Pattern("not_replaceable", (Placemarker(Sign.OLD, "X"),)),)),
            Mode((Pattern("worn", (Placemarker(Sign.OLD, "Key"), Placemarker(Sign.EITHER, "X"))),)),
        ),
    )
    assert data.parameters == {}
    assert data.describe().splitlines()[0] == "3 examples of type machine, target machine"


def test_the_published_machines(tmp_path: Path) -> None:
    data = RelationalData.from_ace(write(tmp_path, MACHINES), facts=facts_of("machines"))
    examples = data.coded().examples
    assert examples.target is not None
    assert [(examples.target == i).sum() for i in range(3)] == [6, 3, 6]


def test_the_published_pictures(tmp_path: Path) -> None:
    data = RelationalData.from_ace(write(tmp_path, BONGARD), facts=facts_of("bongard"))
    coded = data.coded()
    assert coded.examples.n == 392
    assert {name: relation.n_rows for name, relation in coded.relations.items()}["in"] == 703
    assert data.parameters == {"criterion": "entropy"}
    assert data.bias is not None
    assert [mode.most for mode in data.bias.modes] == [5] * 5
    assert data.bias.modes[4].patterns[0].places[2] == Placemarker(Sign.CONSTANT, None, ("up", "down"))


def test_the_published_molecules(tmp_path: Path) -> None:
    path = write(tmp_path, MUTAGENESIS, background=MUTAGENESIS_BACKGROUND)
    data = RelationalData.from_ace(path, facts=facts_of("mutagenesis"))
    coded = data.coded()
    assert coded.examples.n == 230
    assert coded.examples.classes == ("inactive", "active")
    assert (coded.relations["atom"].n_rows, coded.relations["sbond"].n_rows) == (5894, 12618)
    assert (coded.relations["atom"].key, coded.relations["sbond"].key) == (0, 0)
    assert coded.domains["type"].kind == "numeric"
    assert coded.domains["element"].values.tolist() == ["br", "c", "cl", "f", "h", "i", "n", "o", "s"]
    assert data.parameters == {"criterion": "entropy", "min_samples_leaf": 4, "lookahead": 1}
    assert data.bias is not None
    assert data.bias.key_type == "mol"
    assert data.bias.lookaheads[0].then == (
        Pattern("=", (Placemarker(Sign.OLD, "BT"), Placemarker(Sign.CONSTANT, None, (1, 2, 3, 4, 5, 7)))),
    )
    assert Bias.from_text(str(data.bias)) == data.bias


MODELS = """
begin(model(1)). sendback. worn(gear). worn(engine). end(model(1)).
begin(model(2)). ok. end(model(2)).
begin(model(3)). fix. worn(gear). end(model(3)).
"""
MODEL_SETTINGS = (
    MACHINES.replace("load(key).", "load(models).")
    .replace("predict(machine(+machine,-action)).", "")
    .replace("worn(machine,comp)", "worn(comp)")
    .replace("worn(+Key,+-X)", "worn(+-X)")
)


def test_models_and_keys_give_the_same_relations(tmp_path: Path) -> None:
    background = "replaceable(gear). not_replaceable(engine)."
    models = load(tmp_path, MODEL_SETTINGS, MODELS, background).coded()
    keys = load(tmp_path, MACHINES, FACTS, "").coded()
    for name in ("worn", "replaceable", "not_replaceable"):
        assert rows_of(models, name) == rows_of(keys, name)
        assert models.relations[name].key == keys.relations[name].key
    assert models.examples.keys.tolist() == keys.examples.keys.tolist()
    assert models.examples.classes == keys.examples.classes
    assert models.examples.target is not None
    assert keys.examples.target is not None
    assert models.examples.target.tolist() == keys.examples.target.tolist()


def test_in_models_the_key_is_the_first_place_of_modes_and_rules(tmp_path: Path) -> None:
    settings = MODEL_SETTINGS + "type(bad(comp)). rmode(bad(+X)). lookahead(worn(X), bad(X))."
    data = load(
        tmp_path,
        settings,
        MODELS,
        "replaceable(gear). not_replaceable(engine). bad(X) :- worn(X), X \\= gear.",
    )
    assert rows_of(data.coded(), "bad") == [(1, 1, "engine")]
    assert data.bias is not None
    assert data.bias.modes[-1].patterns[0] == Pattern(
        "bad", (Placemarker(Sign.OLD), Placemarker(Sign.OLD, "X"))
    )
    lookahead = data.bias.lookaheads[0]
    assert lookahead.after == Pattern("worn", (Placemarker(Sign.ANYTHING), Placemarker(Sign.OLD, "X")))
    assert lookahead.then == (Pattern("bad", (Placemarker(Sign.OLD), Placemarker(Sign.OLD, "X"))),)


def test_facts_without_classes_are_examples_to_predict(tmp_path: Path) -> None:
    settings = MACHINES + "type(machine(machine,action))."
    facts = "worn(7,gear). worn(8,engine). replaceable(gear). not_replaceable(engine)."
    examples = load(tmp_path, settings, facts).coded().examples
    assert examples.keys.tolist() == [7, 8]
    assert examples.target is None


def test_numbers_and_names_of_one_type_are_labels(tmp_path: Path) -> None:
    settings = MACHINES.replace("rmode(worn(+Key,+-X))", "rmode(worn(+Key,#[1,gear,2.5]))")
    facts = FACTS + "worn(2,1). worn(2,2.5)."
    data = load(tmp_path, settings, facts)
    assert data.bias is not None
    assert data.bias.modes[2].patterns[0].places[1].constants == ("1", "gear", "2.5")
    assert data.coded().domains["comp"].values.tolist() == ["1", "2.5", "engine", "gear"]


def test_an_untyped_language_lets_everything_meet(tmp_path: Path) -> None:
    settings = MACHINES.replace("typed_language(yes)", "typed_language(no)")
    data = load(tmp_path, settings)
    assert data.bias is not None
    assert set(data.bias.types["worn"]) == {"any"}
    assert data.bias.key_type == "any"


def test_regression(tmp_path: Path) -> None:
    settings = "predict(act(+m,-x)). tilde_mode(regress). ftest(0.01). type(p(m,n)). rmode(p(+M,-N))."
    data = load(tmp_path, settings, "act(a,1.5). act(b,2). p(a,1). p(b,2).")
    examples = data.coded().examples
    assert examples.task == "regression"
    assert examples.target is not None
    assert examples.target.tolist() == [1.5, 2.0]
    assert data.parameters == {"ftest": 0.01}


def test_settings_have_names_here(tmp_path: Path) -> None:
    settings = MACHINES + (
        "heuristic(gainratio). minimal_cases(5). max_lookahead(2). pruning(none). confidence_level(0.5).\n"
        "tilde_maxdepth(inf). accuracy(1.0). discretization(none). talking(3). output_options([c45,prolog])."
    )
    data = load(tmp_path, settings)
    assert data.parameters == {
        "criterion": "gain_ratio",
        "min_samples_leaf": 5,
        "lookahead": 2,
        "prune": None,
        "confidence": 0.5,
        "max_depth": None,
    }
    assert data.bias is not None
    assert data.bias.max_lookahead == 2


def test_settings_without_a_meaning_are_named_in_a_warning(tmp_path: Path) -> None:
    settings = MACHINES + "bagging(10).\naccuracy(0.9).\nsampling_strategy(fixed(1000)).\n:- halt.\n"
    with pytest.warns(UserWarning, match="settings without a meaning") as caught:
        RelationalData.from_ace(write(tmp_path, settings, FACTS))
    (warning,) = caught
    line = MACHINES.count("\n") + 1
    for text in (
        f"bagging(10) (line {line})",
        f"accuracy(0.9) (line {line + 1})",
        "sampling_strategy",
        ":- halt",
    ):
        assert text in str(warning.message)


def test_a_predicate_without_facts_is_warned_of(tmp_path: Path) -> None:
    path = write(tmp_path, MACHINES + "type(new(comp)). rmode(new(+X)).", FACTS)
    with pytest.warns(UserWarning, match=r"has no facts of 'new', which modes name"):
        data = RelationalData.from_ace(path)
    assert data.coded().relations["new"].n_rows == 0


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (
            "#(C: member(C,[gear,engine]), worn(+K,C))",
            [("worn", (Placemarker(Sign.OLD, "K"), ("gear", "engine")))],
        ),
        ("#(C: replaceable(C), worn(+K,C))", [("worn", (Placemarker(Sign.OLD, "K"), ("gear",)))]),
        (
            "#(C: member(C,[gear,engine]), (worn(+K,C), replaceable(C)))",
            [
                ("worn", (Placemarker(Sign.OLD, "K"), ("gear",))),
                ("worn", (Placemarker(Sign.OLD, "K"), ("engine",))),
            ],
        ),
    ],
)
def test_constants_come_from_goals(tmp_path: Path, mode: str, expected: list[object]) -> None:
    data = load(tmp_path, MACHINES + f"rmode({mode}).")
    assert data.bias is not None
    found = [one.patterns[0] for one in data.bias.modes[3:]]
    assert [(p.predicate, (p.places[0], p.places[1].constants)) for p in found] == expected


def test_thresholds_are_taken_from_the_data(tmp_path: Path) -> None:
    settings = "predict(c(+m,-x)). type(p(m,n)).\nrmode(3: #(C: threshold(p(_,Y),[Y],C), (p(+M,-Y), Y < C)))."
    data = load(tmp_path, settings, "c(a,u). c(b,v). p(a,1). p(b,2.5).")
    assert data.bias is not None
    row = Pattern("p", (Placemarker(Sign.OLD, "M"), Placemarker(Sign.NEW, "Y")))
    below = Pattern("<=", (Placemarker(Sign.OLD, "Y"), Placemarker(Sign.CONSTANT)))
    assert data.bias.modes == (Mode((row, below), 3),)


def test_tuples_of_constants_make_a_mode_each(tmp_path: Path) -> None:
    mode = "rmode(#([C,D]: member([C,D],[[gear,engine],[engine,gear]]), (worn(+K,C), worn(+K,D))))."
    data = load(tmp_path, MACHINES + mode)
    assert data.bias is not None
    constants = [[p.places[1].constants for p in one.patterns] for one in data.bias.modes[3:]]
    assert constants == [[("gear",), ("engine",)], [("engine",), ("gear",)]]


@pytest.mark.parametrize(
    ("settings", "facts", "message"),
    [
        ("rmode(broken(+X)).", FACTS, r"app.s', line 13, column 7: 'broken' is no table and has no type"),
        (
            "rmode(worn(+X)).",
            FACTS,
            r"line 13, column 7: 'worn' has 2 columns \(machine, comp\) and is given 1",
        ),
        ("rmode(worn(+X,+X)).", FACTS, r"line 13, column 7: X is of type 'machine' and of type 'comp'"),
        ("rmode(machine(+X,-Y)).", FACTS, r"a mode names 'machine', which is predicted"),
        ("heuristic(gini).", FACTS, r"line 13, column 1: heuristic\(gini\): allowed are gain, gainratio"),
        ("minimal_cases(0).", FACTS, r"minimal_cases\(0\): a count of at least 1 is needed"),
        ("classes([]).", FACTS, r"classes\(\[\]\): a list of different names is needed"),
        ("classes([a,a]).", FACTS, r"classes\(\[a,a\]\): a list of different names is needed"),
        ("classes([fix,ok]).", FACTS, r"target 'machine' holds 'sendback', which is none of the classes"),
        ("confidence_level(7).", FACTS, r"confidence_level\(7\): a number above 0 and up to 1"),
        ("load(cd).", FACTS, r"load\(cd\): allowed are key, models, examples"),
        ("predict(m(+a,+b)).", FACTS, r"one place is the key \(\+\) and one what is predicted \(-\)"),
        ("type(worn(comp)).", FACTS, r"'worn' has another type already"),
        ("", "machine(1,ok). machine(1,fix).", r"machine: example 1 is 'ok' and 'fix'; give it one class"),
        ("", "worn(1,gear).", r"there are no facts machine/2, so there are no examples; there are 'worn/2'"),
        ("", "machine(1,ok)) .", r"app.kb', line 1, column 14: '\)' stands where an operator"),
        ("rmode(#(C: none(C), worn(+K,C))).", FACTS, r"none\(C\) gives no constants"),
        ("load(models).", "begin(model(1)). ok.", r"column 21: model 1 begins and does not end"),
        ("load(models).", "begin(model(1)). begin(model(2)).", r"model 2 begins inside model 1"),
        ("load(models).", "end(model(2)).", r"model 2 ends and did not begin before it"),
        ("load(models).", "begin(model(1)). a :- b. end(model(1)).", r"a rule stands inside a model"),
        (
            "load(models).",
            "begin(model(1)). ok. fix. end(model(1)).",
            r"model 1 is 'fix' and 'ok'; give it one class",
        ),
        (
            "load(models).",
            "begin(model(1)). end(model(1)). " * 2,
            r"model 1 stands in the facts more than once",
        ),
        ("load(models).", "ok.", r"the facts hold no begin\(model\(k\)\)"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_is_refused_in_one_line(
    tmp_path: Path, settings: str, facts: str, message: str
) -> None:
    with pytest.raises(HornbeamError, match=message) as caught:
        RelationalData.from_ace(write(tmp_path, MACHINES + settings, facts)).coded()
    assert "\n" not in str(caught.value)


def test_facts_may_be_named_or_compressed(tmp_path: Path) -> None:
    path = write(tmp_path, MACHINES)
    with pytest.raises(HornbeamError, match=r"has no facts beside it: app.kb is not there"):
        RelationalData.from_ace(path)
    (tmp_path / "app.kb.gz").write_bytes(gzip.compress(FACTS.encode()))
    assert RelationalData.from_ace(path).coded().examples.n == 3
    (tmp_path / "other.pl").write_text("machine(1,ok). worn(1,gear). replaceable(gear). not_replaceable(a).")
    assert RelationalData.from_ace(path, facts=tmp_path / "other.pl").coded().examples.n == 1


def test_the_bias_of_facts_is_that_of_their_settings(tmp_path: Path) -> None:
    with pytest.raises(
        HornbeamError, match=r"these facts have the bias of their settings file; use its .bias"
    ):
        load(tmp_path, MACHINES).default_bias()
