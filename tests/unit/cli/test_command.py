"""The command: results on stdout, one line for an error, the right exit code, nothing half-done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

import hornbeam
from hornbeam.cli import main

ROWS = "age,colour,size,class\n" + "".join(
    f"{20 + i},{('red', 'blue', '', 'green')[i % 4]},{i % 7},{'yes' if i % 20 < 9 else 'no'}\n"
    for i in range(80)
)
COMMAND = [sys.executable, "-c", "from hornbeam.cli import main; main()"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, with a table in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(ROWS)
    return tmp_path


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(args), input=stdin)


def refused(code: int, *args: str, says: str = "", stdin: str | None = None) -> str:
    """Run what must fail: the code, one line on stderr, nothing on stdout."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("hornbeam: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    return result.stderr


def files(place: Path) -> set[str]:
    return {path.name for path in place.iterdir()}


def test_help_lists_the_commands_and_exit_codes() -> None:
    result = run("--help")
    assert result.exit_code == 0
    for word in ("demo", "fit", "tune", "bag", "improve", "predict", "show", "generate", "130"):
        assert word in result.output
    for command in ("demo", "fit", "tune", "bag", "improve", "predict", "show", "generate"):
        assert run(command, "--help").exit_code == 0
    assert hornbeam.__version__ in run("--version").output


def test_help_is_light() -> None:
    heavy = "('sklearn', 'pandas', 'matplotlib', 'duckdb', 'numpy', 'pyarrow', 'rich')"
    code = f"""
import sys
from hornbeam.cli import main
try: main(['--help'])
except SystemExit: print([m for m in {heavy} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_fit_show_and_predict_without_scikit_learn(place: Path) -> None:
    code = """
import sys
from hornbeam.cli import main
for line in ('fit data.csv --target class -o m --report r.html', 'show m', 'predict m data.csv'):
    try: main(line.split())
    except SystemExit as done: assert done.code == 0
print('sklearn' in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_model_goes_from_fit_to_predict(place: Path) -> None:
    fitted = run("fit", "data.csv", "--target", "class", "-o", "model.hornbeam", "--report", "report.html")
    assert fitted.exit_code == 0, fitted.output
    assert "accuracy (training)  1.0000 (80 of 80 rows" in fitted.stdout
    assert fitted.stderr == ""
    assert files(place) == {"data.csv", "model.hornbeam", "report.html"}
    assert "hornbeam fit data.csv --target class" in Path("report.html").read_text()
    answers = run("predict", "model.hornbeam", "data.csv").stdout.split()
    expected = [line.rsplit(",", 1)[1] for line in ROWS.splitlines()[1:]]
    assert [answer.strip('"') for answer in answers[1:]] == expected


def test_the_saved_model_is_the_estimators_file(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "--max-depth", "2", "-o", "m")
    model = hornbeam.load("m")
    assert type(model).__name__ == "TreeClassifier"
    assert model.max_depth == 2
    hornbeam.save(model, "again")
    assert run("show", "again").stdout == run("show", "m").stdout


def test_json_is_for_programs(place: Path) -> None:
    result = run("fit", "data.csv", "--target", "class", "--test", "0.25", "--seed", "3", "--json", "-o", "m")
    content = json.loads(result.stdout)
    assert content["task"] == "classification"
    assert content["score"]["held_out"] is True
    assert content["score"]["rows"] + content["rows"] == 80
    assert content["model"] == "m"
    answers = json.loads(run("predict", "m", "data.csv", "--json", "--proba").stdout)
    assert len(answers["prediction"]) == 80
    assert set(answers) == {"prediction", "probability:no", "probability:yes"}
    assert json.loads(run("show", "m", "--json").stdout)


def test_the_hold_out_draw_follows_the_seed(place: Path) -> None:
    def digest(seed: str, threads: str = "1") -> Any:
        line = (
            "fit",
            "data.csv",
            "--target",
            "class",
            "--test",
            "0.5",
            "--seed",
            seed,
            "--threads",
            threads,
            "--json",
        )
        return json.loads(run(*line).stdout)["digest"]

    assert digest("1") == digest("1") == digest("1", "2")
    assert len({digest(str(seed)) for seed in range(6)}) > 1


def test_show_draws_and_limits_the_depth(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    assert run("show", "m", "--svg").stdout.startswith("<svg")
    assert "leaves below" in run("show", "m", "--depth", "1").stdout
    assert "leaves below" not in run("show", "m", "--depth", "all").stdout
    assert run("show", "m", "--svg", "-o", "tree.svg").exit_code == 0
    assert Path("tree.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("form", ["text", "rules", "sql", "dot", "svg", "json"])
def test_show_has_every_form_that_the_tree_has(form: str, place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    tree = hornbeam.load("m").tree_
    expected = {
        "text": tree.to_text(),
        "rules": str(tree.rules()),
        "sql": tree.to_sql() + "\n",
        "dot": tree.to_dot(),
        "svg": tree.to_svg(title="Decision tree for class"),
        "json": tree.to_json() + "\n",
    }
    assert run("show", "m", "--format", form).stdout == expected[form]
    assert run("show", "m", "--format", form, "-o", "shown").exit_code == 0
    assert Path("shown").read_text() == expected[form]


def test_show_writes_sql_that_a_database_runs(place: Path) -> None:
    import duckdb

    run("fit", "data.csv", "--target", "class", "-o", "m")
    answers = json.loads(run("predict", "m", "data.csv", "--json").stdout)["prediction"]
    expression = run("show", "m", "--format", "sql").stdout
    assert [row[0] for row in duckdb.sql(f"select {expression} from 'data.csv'").fetchall()] == answers
    query = run("show", "m", "--format", "sql", "--table", "data.csv").stdout
    columns = duckdb.sql(query).columns
    assert columns == [
        "age",
        "colour",
        "size",
        "class",
        "hornbeam_leaf",
        "prediction",
        "probability:no",
        "probability:yes",
    ]
    assert "`age`" in run("show", "m", "--format", "sql", "--dialect", "sqlite").stdout


def test_numbers_are_predicted_by_regression(place: Path) -> None:
    result = run("fit", "data.csv", "--target", "age", "-o", "m")
    assert "regression" in result.stdout
    lines = run("predict", "m", "data.csv").stdout.splitlines()
    assert lines[0].strip('"') == "prediction"
    assert float(lines[1]) > 0
    several = run("fit", "data.csv", "--target", "age", "--target", "size", "-o", "m", "--report", "r.html")
    assert several.exit_code == 0, several.output
    assert "prediction:age" in run("predict", "m", "data.csv").stdout


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1, 2, 3, 2] * 8, "classification"),
        (list(range(32)), "regression"),
        ([0.5, 1.0] * 16, "regression"),
        ([True, False] * 16, "classification"),
        (["a", "b"] * 16, "classification"),
    ],
)
def test_the_task_follows_the_target(values: list[Any], task: str, place: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": list(range(32)), "y": values}), "data.parquet")
    assert json.loads(run("fit", "data.parquet", "--target", "y", "--json").stdout)["task"] == task


def test_the_task_can_be_chosen(place: Path) -> None:
    line = ("fit", "data.csv", "--target", "size", "--json", "--task")
    assert json.loads(run(*line, "regression").stdout)["task"] == "regression"
    assert json.loads(run(*line, "classification").stdout)["task"] == "classification"


def test_stdin_is_read_as_csv(place: Path) -> None:
    result = run("fit", "-", "--target", "class", "-o", "m", stdin=ROWS)
    assert result.exit_code == 0, result.output
    assert run("predict", "m", "-", stdin=ROWS).stdout.count("\n") == 81


def test_duckdb_needs_a_query_and_takes_one(place: Path) -> None:
    import duckdb

    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table people as select * from 'data.csv'")
    refused(2, "fit", "w.duckdb", "--target", "class", says="people")
    assert run("fit", "w.duckdb", "--sql", "select * from people", "--target", "class").exit_code == 0


def test_columns_named_nominal_are_labels(place: Path) -> None:
    result = run(
        "fit", "data.csv", "--target", "class", "--nominal-features", "size,age", "--report", "r.html"
    )
    assert result.exit_code == 0, result.output
    assert "nominal, 7 labels" in Path("r.html").read_text()
    refused(2, "fit", "data.csv", "--target", "class", "--nominal-features", "colr", says="colr")


# Bad input: what was given, what is allowed, what to do; the right code; nothing written.


def test_zero_rows(place: Path) -> None:
    Path("empty.csv").write_text("a,b,y\n")
    refused(3, "fit", "empty.csv", "--target", "y", "-o", "m", says="zero rows")
    Path("nothing.csv").write_text("")
    refused(3, "fit", "nothing.csv", "--target", "y", "-o", "m")
    assert "m" not in files(place)


def test_zero_columns(place: Path) -> None:
    Path("only.csv").write_text("y\n1\n2\n")
    assert "zero columns besides the target" in refused(3, "fit", "only.csv", "--target", "y", "-o", "m")


def test_one_class_is_a_single_leaf(place: Path) -> None:
    Path("one.csv").write_text("a,y\n1,k\n2,k\n")
    result = run("fit", "one.csv", "--target", "y", "-o", "m", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert "1 leaves, depth 0" in result.stdout or "1 leaf, depth 0" in result.stdout
    assert run("show", "m", "--svg").exit_code == 0


def test_all_cells_missing(place: Path) -> None:
    Path("gaps.csv").write_text("a,b,y\n,,k\n,,l\n,,k\n")
    assert run("fit", "gaps.csv", "--target", "y").exit_code == 0
    Path("gaps.csv").write_text("a,y\n1,\n2,\n")
    refused(3, "fit", "gaps.csv", "--target", "y", says="target 'y' is missing in 2 of 2 rows")


def test_mismatched_lengths(place: Path) -> None:
    Path("ragged.csv").write_text("a,b,y\n1,2,3\n1,2\n")
    assert "ragged.csv" in refused(3, "fit", "ragged.csv", "--target", "y")


def test_duplicate_names(place: Path) -> None:
    Path("twice.csv").write_text("a,a,y\n1,2,3\n4,5,6\n")
    assert "'a'" in refused(3, "fit", "twice.csv", "--target", "y")
    Path("twice.csv").write_text("a,y,y\n1,2,3\n4,5,6\n")
    assert "'y'" in refused(3, "fit", "twice.csv", "--target", "y")


def test_unknown_target(place: Path) -> None:
    assert "did you mean 'class'?" in refused(2, "fit", "data.csv", "--target", "Clas")
    assert "columns are 'age', 'colour', 'size', 'class'" in refused(2, "fit", "data.csv", "--target", "zzzz")
    assert "twice" in refused(2, "fit", "data.csv", "--target", "age", "--target", "age")


def test_unreadable_file(place: Path) -> None:
    assert "nowhere.csv" in refused(4, "fit", "nowhere.csv", "--target", "y")
    refused(4, "fit", ".csv", "--target", "y")
    Path("folder.csv").mkdir()
    assert "directory" in refused(4, "fit", "folder.csv", "--target", "y")
    assert "nowhere" in refused(4, "show", "nowhere")
    assert "not a Hornbeam model" in refused(3, "show", "data.csv")
    Path("broken.parquet").write_bytes(b"PAR1 nonsense")
    assert "broken.parquet" in refused(3, "fit", "broken.parquet", "--target", "y")


@pytest.mark.parametrize(
    "args",
    [
        ("fit", "data.csv"),
        ("fit", "data.csv", "--target", "class", "--colour", "red"),
        ("fit", "data.csv", "--target", "class", "--max-depth", "many"),
        ("fit", "data.csv", "--target", "class", "--max-depth", "0"),
        ("fit", "data.csv", "--target", "class", "--min-samples-leaf", "few"),
        ("fit", "data.csv", "--target", "class", "--min-samples-leaf", "0"),
        ("fit", "data.csv", "--target", "class", "--criterion", "beauty"),
        ("fit", "data.csv", "--target", "class", "--criterion", "variance"),
        ("fit", "data.csv", "--target", "class", "--nominal", "one-hot"),
        ("fit", "data.csv", "--target", "class", "--test", "1.5"),
        ("fit", "data.csv", "--target", "class", "--threads", "0"),
        ("fit", "data.csv", "--target", "class", "--threads", "99999999999"),
        ("fit", "data.csv", "--target", "class", "--test", "nan"),
        ("fit", "data.csv", "--target", "class", "--min-impurity-decrease", "nan"),
        ("fit", "data.csv", "--target", "class", "--nominal-features", "class"),
        ("fit", "data.csv", "--target", "class", "--nominal-features", ","),
        ("fit", "data.csv", "--target", "class", "-o", ""),
        ("fit", "data.csv", "--target", ""),
        ("fit", "", "--target", "class"),
        ("fit", "data.csv", "--target", "class", "--sql", "select 1"),
        ("fit", "data.xlsx", "--target", "class"),
        ("fit", "data.csv", "--target", "class", "-o", "same", "--report", "same"),
        ("predict", "m"),
        ("frobnicate",),
        ("demo", "--data", "nothing"),
    ],
)
def test_wrong_options_are_usage_errors(args: tuple[str, ...], place: Path) -> None:
    refused(2, *args)
    assert files(place) == {"data.csv"}


def test_results_that_cannot_be_written_are_refused_before_the_work(place: Path) -> None:
    refused(4, "fit", "data.csv", "--target", "class", "-o", "no/such/place", says="no directory 'no/such'")
    refused(4, "fit", "data.csv", "--target", "class", "--report", ".", says="directory")
    assert files(place) == {"data.csv"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_leaves_the_old_file(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.html").write_text("old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused(4, "fit", "data.csv", "--target", "class", "--report", "r.html", says="r.html")
    assert Path("r.html").read_text() == "old"
    assert files(place) == {"data.csv", "r.html"}


def test_predict_refuses_other_columns_by_name(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    Path("other.csv").write_text("colour,size\nred,1\n")
    refused(3, "predict", "m", "other.csv", "-o", "out.csv", says="age")
    Path("other.csv").write_text("age,colour,size\nold,red,1\n")
    refused(3, "predict", "m", "other.csv", "-o", "out.csv", says="age")
    assert "out.csv" not in files(place)
    run("fit", "data.csv", "--target", "age", "-o", "m")
    refused(2, "predict", "m", "data.csv", "--proba", says="--proba")


def test_hostile_names_stay_on_their_line(place: Path) -> None:
    Path("odd.csv").write_text('"a\nb\x1b[31m",y\n1,k\n2,l\n')
    assert run("fit", "odd.csv", "--target", "y", "--report", "r.html").exit_code == 0
    line = refused(2, "fit", "odd.csv", "--target", "z\n\x1b[31m")
    assert "\x1b" not in line


def test_debug_shows_the_traceback(place: Path) -> None:
    for line in (("--debug", "fit", "x.csv", "--target", "y"), ("fit", "x.csv", "--target", "y", "--debug")):
        result = run(*line)
        assert result.exit_code == 4
        assert "Traceback" in result.stderr


def test_the_demo_writes_a_page_and_prints_a_tree(place: Path) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "breast tumour" in result.stdout
    assert "worst" in result.stdout
    assert files(place) == {"data.csv", "hornbeam-demo.html"}
    page = Path("hornbeam-demo.html").read_text()
    assert "hornbeam demo" in page
    assert len(page) < 1_000_000


@pytest.mark.parametrize("name", ["wine", "diabetes", "linnerud"])
def test_the_demo_knows_other_sets(name: str, place: Path) -> None:
    assert json.loads(run("demo", "--data", name, "--report", "r.html", "--json").stdout)["data"] == name


def test_sets_of_a_directory_are_found_by_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "file,position,column,kind,role",
        "data.csv,1,age,numeric,attribute",
        "data.csv,2,colour,nominal,attribute",
    ]
    lines += ["data.csv,3,size,nominal,attribute", "data.csv,4,class,nominal,target"]
    Path("schema.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("HORNBEAM_DATA", str(place))
    assert run("demo", "--data", "data").exit_code == 0
    refused(2, "demo", "--data", "nothing", says="data")


# Real processes.


def test_a_real_run_has_clean_streams(place: Path) -> None:
    line = [*COMMAND, "fit", "data.csv", "--target", "class"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    failed = subprocess.run([*line[:-1], "klass"], capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert failed.stderr == "hornbeam: --target 'klass' is not a column; did you mean 'class'?\n"


def test_a_closed_pipe_is_no_error(place: Path) -> None:
    run("fit", "data.csv", "--target", "class", "-o", "m")
    Path("many.csv").write_text(ROWS + ROWS.split("\n", 1)[1] * 3000)
    predict = subprocess.Popen(
        [*COMMAND, "predict", "m", "many.csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert predict.stdout is not None
    assert predict.stderr is not None
    predict.stdout.readline()
    predict.stdout.close()
    assert predict.stderr.read() == b""
    assert predict.wait(timeout=30) == 0


def test_ctrl_c_exits_130_in_one_line(place: Path) -> None:
    # A pipe that never ends keeps the command reading until the signal comes.
    waiting = subprocess.Popen(
        [*COMMAND, "fit", "-", "--target", "y", "-o", "m"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert waiting.stdin is not None
    waiting.stdin.write(b"a,y\n")
    waiting.stdin.flush()
    time.sleep(1.5)
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=30)
    assert waiting.returncode == 130
    assert said == b"hornbeam: interrupted; nothing was written\n"
    assert "m" not in files(place)


def test_colour_only_for_a_terminal_that_wants_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured = CliRunner().invoke(main, ["fit", "data.csv", "--target", "class"], color=True)
    assert "\x1b[" in coloured.stdout
    monkeypatch.setenv("NO_COLOR", "1")
    plain = CliRunner().invoke(main, ["fit", "data.csv", "--target", "class"], color=True)
    assert "\x1b[" not in plain.stdout
