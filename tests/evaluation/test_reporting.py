from __future__ import annotations

from xml.etree import ElementTree as ET

from roamtui.evaluation.plots import Bar, draw_bars, draw_text_bars
from roamtui.evaluation.reporting import RunResult, make_html_report, make_markdown_report
from roamtui.evaluation.rows import AgentScore, QuestionRow, RunKey
from roamtui.evaluation.scoring import score_run

_AGENT = AgentScore(
    gold_opened=True,
    gold_cited=False,
    relaxed_opened=True,
    relaxed_cited=False,
    quotes=2,
    verified=1,
    opened=3,
    tokens=1234,
    steps=3,
    seconds=0.2,
    stopped="answered",
)


def _make_result(name: str = "tiny", *, model: str = "") -> RunResult:
    key = RunKey(set=name, scope="doc", mode="keyword", model=model, with_history=True)
    agent = _AGENT if model else None
    rows = [
        QuestionRow(id=str(rank), question="?", rank=rank, relaxed_rank=rank, hits=(), ms=2.0, agent=agent)
        for rank in (1, 2, 3, 4)
    ]
    return RunResult(score=score_run(key, rows), rows=rows)


def test_a_page_has_the_numbers_and_a_plot_for_each_measure() -> None:
    page = make_html_report([_make_result(), _make_result("other", model="offline")])
    assert "tiny · doc · keyword" in page
    assert "<td>25.0 [0.0, 75.0]</td>" in page
    assert "1,234" in page
    for title in ("Hit@1", "Hit@5", "Hit@10", "Gold opened", "Tokens of section text", "Search latency"):
        assert f"<h2>{title}" in page
    assert page.count("<svg") == 6


def test_nothing_in_a_page_is_loaded_from_elsewhere_or_run() -> None:
    page = make_html_report([_make_result("<script>alert(1)</script>")])
    assert "<script" not in page
    assert "http" not in page


def test_markdown_has_the_same_numbers() -> None:
    report = make_markdown_report([_make_result("a|b", model="offline")])
    assert "| a\\|b · doc · keyword · offline | 4 | 25.0 [0.0, 75.0] |" in report
    assert "█" in report


def test_bars_are_to_scale() -> None:
    half = Bar(label="a & b", value=50.0, low=40.0, high=60.0)
    drawing = ET.fromstring(draw_bars([half], "%"))  # noqa: S314 - our own
    rectangle = drawing.find("rect")
    assert rectangle is not None
    assert float(rectangle.attrib["width"]) == 240.0
    assert draw_text_bars([half], "%").count("█") == 20


def test_runs_without_anything_measured_make_an_empty_report() -> None:
    assert "<table" not in make_html_report([])
