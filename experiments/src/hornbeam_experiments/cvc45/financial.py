"""A stand-in for the paper's "Financial" set, which was never published: made-up firms, sound or in distress.

The paper says of it only that it has the traits of real financial domains, 250 training and 150 test rows.
Here are traits that such domains are known for: amounts of money over several orders of magnitude, ratios of
them that say nearly the same, nominal attributes whose meaning depends on others, limits that depend on the
sector, attributes that say nothing, and labels that are wrong now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hornbeam.datasets.generators.family import (
    CLASS,
    GeneratedColumn,
    TableFamily,
    integer,
    labelled,
    real,
    share,
)
from hornbeam.datasets.generators.streams import Reals, Rows, Truths, Values

SECTORS = ("building", "energy", "food", "retail", "services", "textiles")
REGIONS = ("centre", "east", "north", "south", "west")
RECORDS = ("late", "prompt", "slow")
LABELS = ("distress", "sound")
# How much of its assets a firm of the sector may owe.
MOST_DEBT = np.array([0.72, 0.78, 0.62, 0.58, 0.66, 0.52])


@dataclass(frozen=True)
class Financial(TableFamily):
    """Firms: what they have, owe and earn. `noise` is the share of labels that are the other one."""

    name: ClassVar[str] = "financial"
    asks: ClassVar[str] = "Is a firm sound or in distress?"
    usual_rows: ClassVar[int] = 400

    noise: float = share(0.08)

    def columns(self) -> tuple[GeneratedColumn, ...]:
        return (
            labelled("sector", SECTORS),
            labelled("region", REGIONS),
            labelled("record", RECORDS),
            integer("years"),
            integer("assets"),
            integer("sales"),
            integer("debt"),
            integer("profit"),
            real("debt_ratio"),
            real("margin"),
            real("return_on_assets"),
            real("current_ratio"),
            real("growth"),
            labelled(CLASS, LABELS),
        )

    def relevant(self, seed: int) -> tuple[str, ...]:
        return ("debt_ratio", "sector", "margin", "record", "current_ratio")

    def draw(self, rows: Rows) -> list[Values]:
        sector, region = rows.below("financial/sector", len(SECTORS)), rows.below("financial/region", 5)
        years = rows.between("financial/years", 1, 60)
        quality = bell(rows, "quality")  # what no column shows and all ratios share
        assets = np.rint(np.exp(7.0 + 1.2 * bell(rows, "assets")))
        sales = np.rint(assets * np.exp(0.3 + 0.5 * bell(rows, "sales")))
        owed = np.clip(0.58 - 0.10 * quality + 0.14 * bell(rows, "debt"), 0.02, 1.3)
        margin = 0.035 + 0.030 * quality + 0.035 * bell(rows, "margin")
        current = np.clip(1.5 + 0.25 * quality + 0.45 * bell(rows, "current"), 0.2, None)
        debt, profit = np.rint(owed * assets), np.rint(margin * sales)
        mood = quality + 1.2 * bell(rows, "record")
        record = np.where(mood < -1.0, 0, np.where(mood < 0.2, 2, 1))  # late, slow, prompt
        sound = in_health(sector, record, years, owed, margin, current)
        label = sound ^ rows.chance("financial/noise", self.noise)
        ratios = (owed + 0.02 * bell(rows, "audit"), margin, profit / np.maximum(assets, 1.0), current)
        growth = 0.04 + 0.1 * bell(rows, "growth")
        shown = [np.round(ratio, 3) for ratio in (*ratios, growth)]
        return [
            sector,
            region,
            record,
            years,
            assets.astype(np.int64),
            sales.astype(np.int64),
            debt.astype(np.int64),
            profit.astype(np.int64),
            *shown,
            label.astype(np.int8),
        ]


def in_health(
    sector: Values, record: Values, years: Values, owed: Reals, margin: Reals, current: Reals
) -> Truths:
    """Firms within the debt of their sector are sound if they earn or can pay, those beyond it only if old or
    prompt and earning well."""
    within = owed <= MOST_DEBT[sector]
    earns, pays = margin > 0.02, current > 1.4
    beyond = (margin > 0.06) & ((years > 25) | (record == 1))
    found: Truths = np.where(within, (earns & (record != 0)) | pays, beyond)
    return found


def bell(rows: Rows, name: str) -> Reals:
    """Nearly normal, mean 0 and deviation 1: the sum of four uniform numbers."""
    total = sum((rows.unit(f"financial/{name}/{i}") for i in range(4)), start=np.full(rows.count, -2.0))
    scaled: Reals = total * 3.0**0.5
    return scaled
