"""The sections of the page, each a function from the study to a piece of HTML."""

from __future__ import annotations

from hornbeam.drawing import Picture, draw_icicle, draw_tree
from hornbeam.drawing.text import clean, count_text, escape, number_text, percent_text, shorten

from .records import Errors, Points, Score, Study

_BRAND = (
    '<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2C6 6 4 10 4 14a8 8 0 0 0 16 0c0-4-2-8-8-12z"'
    ' style="fill:var(--hb-accent)"/><path d="M12 22V8m0 12l5-5m-5 2l-4-4m4 1l3-3" style="stroke:var(--hb-card)"'
    ' stroke-width="1.4" fill="none" stroke-linecap="round"/></svg>'
)
_MOST_MATRIX = 12
_MOST_BARS = 12
_MOST_BOXES = 90
_EASY_BOXES = 19
_MOST_TEXT_LINES = 2000


def heading(study: Study) -> str:
    """The result in one sentence, and where it comes from."""
    return (
        f'<header><div class="brand">{_BRAND}<span>Hornbeam</span></div><h1>{_headline(study.score, study)}</h1>'
        f'<p class="lead">{escape(_lead(study))}</p></header>'
    )


def _headline(score: Score, study: Study) -> str:
    where = f'<span class="whole">{"held-out" if score.held_out else "training"} rows</span>'
    if score.measure == "accuracy":
        right = round(score.value * score.rows)
        return (
            f"One tree with {_plural(study.n_leaves, 'leaf', 'leaves')} is right on "
            f"<em>{escape(count_text(right))} of {escape(count_text(score.rows))}</em> {where}"
        )
    explained = score_text(score.value) if score.value > 0 else "none"
    return (
        f"One tree with {_plural(study.n_leaves, 'leaf', 'leaves')} explains "
        f"<em>{escape(explained)}</em> of the variance of {escape(study.target)} on {where}"
    )


def score_text(share: float) -> str:
    """A score in percent with one decimal."""
    return f"{share * 100:.1f}\u202f%"


def _lead(study: Study) -> str:
    data = f" of {study.data_name}" if study.data_name else ""
    grown = f"Grown from {count_text(study.rows)} rows{data} to predict {study.target}"
    columns = f"{study.attributes_used} of {len(study.columns)} attributes decide."
    if study.score.held_out:
        return f"{grown}; scored on rows it never saw. {columns}"
    return f"{grown}; scored on the same rows, so expect less on new ones. {columns}"


def _plural(count: int, one: str, many: str) -> str:
    return f"{escape(count_text(count))} {one if count == 1 else many}"


def cards(study: Study) -> str:
    """The figures at a glance."""
    score = study.score
    where = "held-out" if score.held_out else "training"
    if score.measure == "accuracy":
        first = _card(score_text(score.value), f"accuracy, {where} rows", _meter(score.value, score.baseline))
        guess = _card(score_text(score.baseline), "by always giving the most common answer")
    else:
        first = _card(f"{score.value:.3f}", f"R², {where} rows", _meter(score.value, 0.0))
        error = ", ".join(number_text(value, 3) for value in score.mean_absolute_error[:3])
        guess = _card(error, "mean absolute error")
    size = _card(count_text(study.n_leaves), f"leaves, depth {study.depth}")
    used = _card(f"{study.attributes_used}", f"of {len(study.columns)} attributes used")
    time = _card(_seconds(study.seconds), "to grow the tree")
    return f'<div class="cards">{first}{guess}{size}{used}{time}</div>'


def _card(figure: str, caption: str, more: str = "") -> str:
    return f'<div class="card"><b>{escape(figure)}</b><span>{escape(caption)}</span>{more}</div>'


def _meter(value: float, baseline: float) -> str:
    mark = f'<u style="left:{baseline * 100:.1f}%"></u>' if 0 < baseline < 1 else ""
    return f'<div class="meter" aria-hidden="true"><i style="width:{min(1.0, max(0.0, value)) * 100:.1f}%"></i>{mark}</div>'


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s" if seconds < 100 else f"{seconds:.0f} s"


def tree_section(study: Study) -> str:
    """The tree as boxes, with a choice of depths where it is deep; the choice works without script."""
    depths = drawn_depths(study.picture)
    start = first_depth(study.picture, depths)
    hint = "A box asks a question or gives an answer; the bar is how the rows there divide; a branch is as thick as its share of the rows."
    if study.task == "regression":
        hint = "A box asks a question or gives an answer; the dot is the mean there, its band one standard deviation; a branch is as thick as its share of the rows."
    views = "".join(
        f'<div class="view v{depth} scroll">{draw_tree(study.picture, depth, inline=True, title="The tree")}</div>'
        for depth in depths
    )
    picks, labels, rules = "", "", ""
    for depth in depths:
        checked = " checked" if depth == start else ""
        picks += f'<input class="pick" type="radio" name="depth" id="d{depth}"{checked}>'
        labels += f'<label for="d{depth}">{"all" if depth >= study.picture.depth else depth}</label>'
        rules += f"#d{depth}:checked~.v{depth}{{display:block}}#d{depth}:checked~.depths label[for=d{depth}]{{background:var(--hb-ink);color:var(--hb-card);border-color:var(--hb-ink)}}"
    choose = f'<div class="depths" aria-hidden="true">levels shown {labels}</div>' if len(depths) > 1 else ""
    return f'<section><h2>The tree</h2><p class="hint">{hint}</p><style>{rules}</style>{picks}{choose}{views}</section>'


def first_depth(picture: Picture, depths: list[int]) -> int:
    """The deepest choice that still is an easy picture."""
    easy = [d for d in depths if sum(node.depth <= d for node in picture.nodes) <= _EASY_BOXES]
    return easy[-1] if easy else depths[0]


def drawn_depths(picture: Picture) -> list[int]:
    """The depths worth drawing: from 2 down, while the picture keeps a readable number of boxes."""
    by_depth = [0] * (picture.depth + 1)
    for node in picture.nodes:
        by_depth[node.depth] += 1
    depths, boxes = [], by_depth[0]
    for depth in range(1, picture.depth + 1):
        boxes += by_depth[depth]
        if boxes > _MOST_BOXES and depths:
            break
        if depth >= 2 or depth == picture.depth:
            depths.append(depth)
    return depths[:6] or [picture.depth]


def overview_section(study: Study) -> str:
    """The icicle, for trees that do not fit a picture of boxes."""
    if study.n_leaves <= 12:
        return ""
    hint = "Every level is a band and every node as wide as its share of the rows; strong colours are leaves. Hover for the path."
    drawn = draw_icicle(study.picture, inline=True)
    return f'<section><h2>The whole tree at a glance</h2><p class="hint">{hint}</p><div class="scroll">{drawn}</div></section>'


def importance_section(study: Study) -> str:
    """How much of the impurity decrease each attribute brings."""
    used = sorted((c for c in study.columns if c.importance > 0), key=lambda column: -column.importance)
    if not used:
        return "<section><h2>What decides</h2><p class='hint'>No attribute: the tree is a single leaf.</p></section>"
    top = used[0].importance
    rows = "".join(
        f'<div class="n" title="{escape(c.name)}">{escape(c.name)}</div>'
        f'<div class="b" style="width:{c.importance / top * 100:.1f}%"></div>'
        f'<div class="v">{percent_text(c.importance)}</div>'
        for c in used[:_MOST_BARS]
    )
    more = f'<p class="hint">and {len(used) - _MOST_BARS} more</p>' if len(used) > _MOST_BARS else ""
    hint = '<p class="hint">Share of the decrease of impurity that the tests on an attribute bring on the training rows.</p>'
    return f'<section><h2>What decides</h2>{hint}<div class="bars">{rows}</div>{more}</section>'


def error_section(study: Study) -> str:
    """Where the tree errs: a table of classes, or actual against predicted values."""
    where = "held-out" if study.score.held_out else "training"
    if study.errors is not None:
        return f"<section><h2>Where it errs</h2>{_matrix(study.errors, where)}</section>"
    if study.points is not None and study.points.pairs:
        return f"<section><h2>Where it errs</h2>{_scatter(study.points, where)}</section>"
    return ""


def _matrix(errors: Errors, where: str) -> str:
    if len(errors.classes) > _MOST_MATRIX:
        return _confusions(errors, where)
    head = "".join(f'<th scope="col" title="{escape(c)}">{escape(shorten(c, 12))}</th>' for c in errors.classes)
    body = ""
    for index, (name, row) in enumerate(zip(errors.classes, errors.counts, strict=True)):
        total = max(1, sum(row))
        cells = "".join(_cell(count, count / total, index == column) for column, count in enumerate(row))
        body += f'<tr><th scope="row" class="side" title="{escape(name)}">{escape(shorten(name, 14))}</th>{cells}</tr>'
    hint = f'<p class="hint">Rows are the true classes, columns the tree’s answers ({where} rows).</p>'
    return f'{hint}<div class="scroll"><table class="matrix"><tr><th></th>{head}</tr>{body}</table></div>'


def _cell(count: int, share: float, right: bool) -> str:
    colour = "var(--hb-accent)" if right else "var(--hb-c5)"
    shade = f'<i style="background:{colour};opacity:{0.12 + 0.5 * share:.2f}"></i>' if count else ""
    return f"<td>{shade}<span>{escape(count_text(count))}</span></td>"


def _confusions(errors: Errors, where: str) -> str:
    """For many classes the most frequent mistakes say more than a large table."""
    wrong = [
        (count, i, j) for i, row in enumerate(errors.counts) for j, count in enumerate(row) if i != j and count
    ]
    wrong.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    rows = "".join(
        f'<tr><td>{escape(errors.classes[i])}</td><td>{escape(errors.classes[j])}</td><td class="r">{escape(count_text(count))}</td></tr>'
        for count, i, j in wrong[:10]
    )
    hint = f'<p class="hint">The most frequent mistakes on {where} rows.</p>'
    return f'{hint}<table><tr><th>true class</th><th>answer</th><th class="r">rows</th></tr>{rows}</table>'


def _scatter(points: Points, where: str) -> str:
    size, pad = 360.0, 34.0
    values = [value for pair in points.pairs for value in pair]
    low, high = min(values), max(values)
    span = (high - low) or 1.0

    def at(value: float) -> float:
        return (value - low) / span * (size - 2 * pad)

    dots = "".join(
        f'<circle cx="{pad + at(x):.1f}" cy="{size - pad - at(y):.1f}" r="3" style="fill:var(--hb-c0)" fill-opacity=".35"/>'
        for x, y in points.pairs
    )
    right, bottom = size - pad, size - pad
    axis = (
        f'<path d="M{pad} {pad}V{bottom}H{right}" class="e"/><path d="M{pad} {bottom}L{right} {pad}" class="m"/>'
        f'<text class="s" x="{pad}" y="{bottom + 18}">{escape(number_text(low))}</text>'
        f'<text class="s" x="{right}" y="{bottom + 18}" text-anchor="end">{escape(number_text(high))}</text>'
        f'<text class="s" x="{size / 2}" y="{bottom + 18}" text-anchor="middle">actual</text>'
        f'<text class="s" x="{pad}" y="{pad - 10}">predicted</text>'
    )
    hint = f'<p class="hint">Each dot is a row ({where}); on the dotted line the answer is exact.</p>'
    title = f"<title>Actual against predicted {escape(points.target)}</title>"
    return f'{hint}<div class="fit"><svg class="hb" role="img" viewBox="0 0 {size:.0f} {size:.0f}" style="max-width:460px">{title}{axis}{dots}</svg></div>'


def ask_section(has_questions: bool) -> str:
    """Room for the script to let a reader ask the tree about a row."""
    if not has_questions:
        return ""
    return (
        '<section id="ask" class="ask-section" hidden><h2>Ask the tree</h2><p class="hint">Change a value and see the answer and the path; it starts from a typical row.</p>'
        '<div class="ask"><div class="fields" id="ask-fields"></div><div class="answer" id="ask-answer" aria-live="polite"></div></div></section>'
    )


def rules_section(study: Study) -> str:
    """The tree as text: the alternative to the picture."""
    lines = study.text.rstrip("\n").split("\n")
    shown = "\n".join(clean(line) for line in lines[:_MOST_TEXT_LINES])
    if len(lines) > _MOST_TEXT_LINES:
        shown += f"\n… {len(lines) - _MOST_TEXT_LINES} more lines"
    open_ = " open" if len(lines) <= 60 else ""
    body = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<section class="long"><h2>The tree as text</h2><details{open_}><summary>{len(lines)} lines</summary><pre>{body}</pre></details></section>'


def data_section(study: Study) -> str:
    """What the attributes hold."""
    rows = "".join(
        f'<tr><td>{escape(c.name)}</td><td>{escape(c.kind)}</td><td class="r">{_missing(c.missing, study.rows)}</td>'
        f'<td>{escape(shorten(c.values, 70))}</td><td class="r">{percent_text(c.importance) if c.importance else ""}</td></tr>'
        for c in study.columns[:200]
    )
    more = f'<p class="hint">and {len(study.columns) - 200} more attributes</p>' if len(study.columns) > 200 else ""
    head = '<tr><th>attribute</th><th>kind</th><th class="r">missing</th><th>values</th><th class="r">importance</th></tr>'
    hint = f'<p class="hint">{escape(count_text(study.rows))} training rows, {len(study.columns)} attributes; the target is {escape(study.target)}.</p>'
    open_ = " open" if len(study.columns) <= 16 else ""
    return f'<section class="long"><h2>The data</h2>{hint}<details{open_}><summary>attributes</summary><div class="scroll"><table>{head}{rows}</table></div>{more}</details></section>'


def _missing(count: int, rows: int) -> str:
    return f"{escape(count_text(count))} ({percent_text(count / rows)})" if count else "–"


def reproduce_section(study: Study) -> str:
    """Everything needed to grow the same tree again."""
    parameters = ", ".join(f"{name}={value!r}" for name, value in study.parameters.items())
    entries = [
        ("version", f"hornbeam {study.version}"),
        ("seed", "none: no random choice was made" if study.seed is None else str(study.seed)),
        ("parameters", parameters),
        ("data", f"{study.data_name} sha256:{study.data_hash}" if study.data_hash else study.data_name),
        ("tree digest", study.digest),
    ]
    listed = "".join(f"<dt>{name}</dt><dd><code>{escape(value)}</code></dd>" for name, value in entries if value)
    run = f'<pre class="run">{escape(study.command)}</pre>' if study.command else ""
    return f'<section><h2>Reproduce</h2>{run}<dl class="meta">{listed}</dl></section>'
