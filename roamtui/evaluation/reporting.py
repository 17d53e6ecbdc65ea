"""Runs into a report: tables and plots, as one HTML page or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from statistics import quantiles
from typing import TYPE_CHECKING

from roamtui.document.plain import plain_line
from roamtui.evaluation.plots import Bar, draw_bars, draw_text_bars

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from roamtui.evaluation.rows import QuestionRow
    from roamtui.evaluation.scoring import RunScore

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .7rem;border-bottom:1px solid #d8dee4;"
    "text-align:right}td:first-child,th:first-child{text-align:left}svg{display:block;margin:1rem 0}"
)
_NOTE = (
    "Shares in %, 95 % bootstrap intervals in brackets. "
    "A hit is the gold section or one inside it; relaxed, its parent too."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """A run with its numbers and the results they come from."""

    score: RunScore
    rows: Sequence[QuestionRow]

    @property
    def name(self) -> str:
        """What tells the run from others, on one line."""
        key = self.score.key
        parts = (key.set, key.scope, key.mode, key.model, "" if key.with_history else "no history")
        return plain_line(" · ".join(part for part in parts if part))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plot:
    title: str
    bars: list[Bar]
    unit: str


def make_html_report(runs: Sequence[RunResult]) -> str:
    """Return a page that needs nothing else: no script, no font, no picture beside it."""
    parts = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8"><title>roamtui: evaluation</title>']
    parts += [f"<style>{_STYLE}</style></head><body>", "<h1>Evaluation</h1>", f"<p>{escape(_NOTE)}</p>"]
    for table in _make_tables(runs):
        head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
        parts += [f"<h2>{escape(table.title)}</h2>", f"<table><thead><tr>{head}</tr></thead><tbody>"]
        parts += ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows]
        parts.append("</tbody></table>")
    for plot in _make_plots(runs):
        parts += [f"<h2>{escape(plot.title)}</h2>", draw_bars(plot.bars, plot.unit)]
    return "\n".join([*parts, "</body></html>"]) + "\n"


def make_markdown_report(runs: Sequence[RunResult]) -> str:
    """Return the same as Markdown, with plots of block characters."""
    parts = ["# Evaluation", _NOTE]
    for table in _make_tables(runs):
        lines = [table.head, ("---", *("---:" for _ in table.head[1:])), *table.rows]
        cells = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
        parts += [f"## {table.title}", "\n".join(cells)]
    for plot in _make_plots(runs):
        parts += [f"## {plot.title}", f"```text\n{draw_text_bars(plot.bars, plot.unit)}\n```"]
    return "\n\n".join(parts) + "\n"


def _make_tables(runs: Sequence[RunResult]) -> list[_Table]:
    tables = []
    searched = [run for run in runs if "hit_at_1" in run.score.values]
    if searched:
        names = ("hit_at_1", "hit_at_5", "hit_at_10", "mrr")
        head = ("run", "n", "Hit@1", "Hit@5", "Hit@10", "MRR", "relaxed Hit@1", "Hit@5", "ms")
        rows = [
            (
                run.name,
                str(run.score.questions),
                *(_share(run, name) for name in names),
                _share(run, "relaxed_hit_at_1"),
                _share(run, "relaxed_hit_at_5"),
                _number(run, "median_ms", digits=1),
            )
            for run in searched
        ]
        tables.append(_Table(title="Search", head=head, rows=rows))
    answered = [run for run in runs if "gold_opened" in run.score.values]
    if answered:
        head = (
            "run",
            "n",
            "gold opened",
            "gold cited",
            "quotes verified",
            "opened",
            "tokens",
            "median",
            "steps",
        )
        shares = ("gold_opened", "gold_cited", "quotes_verified")
        rows = [
            (
                run.name,
                str(run.score.questions),
                *(_share(run, name) for name in shares),
                _number(run, "opened_per_question", digits=2),
                _number(run, "tokens_per_question"),
                _number(run, "median_tokens"),
                _number(run, "steps_per_question", digits=2),
            )
            for run in answered
        ]
        tables.append(_Table(title="Agent", head=head, rows=rows))
    return tables


def _make_plots(runs: Sequence[RunResult]) -> list[_Plot]:
    plots = []
    for place in (1, 5, 10):
        bars = [bar for run in runs if (bar := _make_share_bar(run, f"hit_at_{place}"))]
        plots.append(_Plot(title=f"Hit@{place}", bars=bars, unit="%"))
    opened = [bar for run in runs if (bar := _make_share_bar(run, "gold_opened"))]
    plots.append(_Plot(title="Gold opened", bars=opened, unit="%"))
    tokens = [bar for run in runs if (bar := _make_spread_bar(run, _read_tokens))]
    plots.append(_Plot(title="Tokens of section text (median, 10 % to 90 %)", bars=tokens, unit="tok"))
    latency = [bar for run in runs if (bar := _make_spread_bar(run, _read_ms))]
    plots.append(_Plot(title="Search latency (median, 10 % to 90 %)", bars=latency, unit="ms"))
    return [plot for plot in plots if plot.bars]


def _make_share_bar(run: RunResult, name: str) -> Bar | None:
    value = run.score.values.get(name)
    if value is None:
        return None
    low, high = run.score.intervals.get(name, (value, value))
    return Bar(label=run.name, value=100 * value, low=100 * low, high=100 * high)


def _make_spread_bar(run: RunResult, read: Callable[[RunResult], list[float]]) -> Bar | None:
    values = read(run)
    if not values:
        return None
    tenths = quantiles(values, n=10, method="inclusive") if len(values) > 1 else values * 9
    return Bar(label=run.name, value=tenths[4], low=tenths[0], high=tenths[8])


def _read_tokens(run: RunResult) -> list[float]:
    return [float(row.agent.tokens) for row in run.rows if row.agent is not None]


def _read_ms(run: RunResult) -> list[float]:
    return [row.ms for row in run.rows] if "median_ms" in run.score.values else []


def _share(run: RunResult, name: str) -> str:
    value = run.score.values.get(name)
    if value is None:
        return "–"
    low, high = run.score.intervals.get(name, (value, value))
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _number(run: RunResult, name: str, *, digits: int = 0) -> str:
    value = run.score.values.get(name)
    return "–" if value is None else f"{value:,.{digits}f}"
