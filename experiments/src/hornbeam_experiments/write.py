"""The files of an experiment: CSV of every sheet, one JSON of all, SVG of every figure, one page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

from hornbeam_experiments.page import page_of
from hornbeam_experiments.records import Cell, Results, Sheet


def files_of(results: Results) -> Mapping[str, bytes]:
    """Names of files and what they hold."""
    files = {f"{sheet.name}.csv": csv_of(sheet).encode() for sheet in results.sheets}
    for part in results.parts:
        files |= {f"{figure.name}.svg": figure.alone.encode() for figure in part.figures}
    files[f"{results.experiment}.json"] = (
        json.dumps(json_of(results), indent=1, allow_nan=False) + "\n"
    ).encode()
    files[f"{results.experiment}.html"] = page_of(results).encode()
    return files


def csv_of(sheet: Sheet) -> str:
    """Numbers as they are, with all their digits; nothing where there is none."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(sheet.columns)
    writer.writerows([["" if cell is None else cell for cell in row] for row in sheet.rows])
    return stream.getvalue()


def json_of(results: Results) -> dict[str, object]:
    """The same numbers, what they were measured with, and the paper's."""
    parts = [
        {
            "title": part.title,
            "paper": part.paper,
            "sheets": {sheet.name: _finite(sheet.records()) for sheet in part.sheets},
            "text": dict(part.text),
        }
        for part in results.parts
    ]
    return {
        "experiment": results.experiment,
        "setting": dict(results.setting),
        "notes": list(results.notes),
        "parts": parts,
        "paper": dict(results.source),
    }


def _finite(records: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """JSON has no infinities; None stands for them."""
    return [
        {
            name: None if isinstance(cell, float) and not abs(cell) < float("inf") else cell
            for name, cell in record.items()
        }
        for record in records
    ]
