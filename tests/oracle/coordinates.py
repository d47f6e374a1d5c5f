"""Categories and classes (docs/quest.md): chi-squared, and the first discriminant coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.oracle.candidates import Group, total
from tests.oracle.quality import nearest

GRID = 2.0**40  # coordinates are whole numbers up to this
SWEEPS = 40

Matrix = list[list[float]]


def table_of(groups: Sequence[Group]) -> tuple[list[list[int]], list[int], list[int]]:
    """Counts of the categories by class, of the categories, and of the classes that are present."""
    stats = [g.stats for g in groups]
    classes = total(stats).present  # type: ignore[union-attr]
    counts = [[int(s.counts[k]) for k in classes] for s in stats]  # type: ignore[union-attr]
    return counts, [sum(row) for row in counts], [sum(column) for column in zip(*counts, strict=True)]


def excesses(groups: Sequence[Group]) -> Matrix:
    """n * n_jk - n_j * c_k, rounded."""
    counts, rows, columns = table_of(groups)
    n = sum(rows)
    return [
        [nearest(n * cell - rows[j] * columns[k]) for k, cell in enumerate(row)]
        for j, row in enumerate(counts)
    ]


def chi_square(groups: Sequence[Group]) -> tuple[float, int]:
    _, rows, columns = table_of(groups)
    s = 0.0
    for j, row in enumerate(excesses(groups)):
        for k, e in enumerate(row):
            s = s + (e * e) / (nearest(rows[j]) * nearest(columns[k]))
    return s / nearest(sum(rows)), (len(rows) - 1) * (len(columns) - 1)


def leading(m: Matrix) -> list[float]:
    """The eigenvector of the largest eigenvalue of a symmetric matrix: Jacobi, row by row."""
    size = len(m)
    v = [[1.0 if i == j else 0.0 for j in range(size)] for i in range(size)]
    for _ in range(SWEEPS):
        off = diagonal = 0.0
        for p in range(size):
            diagonal = diagonal + m[p][p] * m[p][p]
            for q in range(p + 1, size):
                off = off + m[p][q] * m[p][q]
        if off <= 1e-30 * diagonal:
            break
        for p in range(size):
            for q in range(p + 1, size):
                rotate(m, v, p, q)
    best = 0
    for i in range(size):
        if m[i][i] > m[best][best]:
            best = i
    return [v[i][best] for i in range(size)]


def rotate(m: Matrix, v: Matrix, p: int, q: int) -> None:
    if m[p][q] == 0.0:
        return
    theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q])
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for row in m:
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
    m[p], m[q] = (
        [c * x - s * y for x, y in zip(m[p], m[q], strict=True)],
        [s * x + c * y for x, y in zip(m[p], m[q], strict=True)],
    )
    for row in v:
        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]


def coordinates(groups: Sequence[Group]) -> list[int]:
    """The discriminant coordinate of each category, on a grid of whole numbers."""
    _, rows, columns = table_of(groups)
    e = excesses(groups)
    by_class = len(columns) <= len(rows)
    lines = [list(line) for line in zip(*e, strict=True)] if by_class else e
    own, across = (columns, rows) if by_class else (rows, columns)
    m = [[0.0] * len(own) for _ in own]
    for i in range(len(own)):
        for j in range(len(own)):
            s = 0.0
            for x, y, size in zip(lines[i], lines[j], across, strict=True):
                s = s + (x * y) / nearest(size)
            m[i][j] = s / (math.sqrt(nearest(own[i])) * math.sqrt(nearest(own[j])))
    v = [x / math.sqrt(nearest(size)) for x, size in zip(leading(m), own, strict=True)]
    if not by_class:
        return on_grid(v)
    scores = []
    for j, row in enumerate(e):
        s = 0.0
        for k, x in enumerate(row):
            s = s + (x / nearest(rows[j])) * v[k]
        scores.append(s)
    return on_grid(scores)


def on_grid(scores: Sequence[float]) -> list[int]:
    """From -2^40 to 2^40; the first that is not 0 is negative."""
    most = max(map(abs, scores))
    if not 0.0 < most < math.inf:
        return [0] * len(scores)
    whole = [round(score / most * GRID) for score in scores]
    first = next((w for w in whole if w != 0), 0)
    return [-w for w in whole] if first > 0 else whole
