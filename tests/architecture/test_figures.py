"""The figures of the README are promises: each has a line in PROMISES.md, and is what docs/benchmarks.md says."""

import re
import tomllib

from roamtui.retrieval import policy
from tests.real_documents import PROJECT_DIR

_README = (PROJECT_DIR / "README.md").read_text("utf-8")
_SENTENCES = " ".join(_README.split())
_NO_FIGURES = re.compile(
    r"```.*?^```|<!-- (.*?) -->.*?<!-- /\1 -->|`[^`]+`|\]\([^)]*\)|^\d+\. ", re.DOTALL | re.MULTILINE
)
"""Code, what is generated, links, and the numbers of list items."""
_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_SETS = {
    "company reports (FinanceBench)": "FinanceBench",
    "contracts": "cuad",
    "Ray's documentation": "ray",
    "Vespa's documentation": "vespa",
    "Anthropic's documentation": "anthropic",
}


def _read_rows(heading: str) -> list[list[str]]:
    """Return the cells of the rows of all tables in a section of the benchmarks."""
    page = (PROJECT_DIR / "docs" / "benchmarks.md").read_text("utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert section, heading
    return [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]


def test_each_figure_of_the_readme_is_a_promise() -> None:
    promises = (PROJECT_DIR / "tests" / "PROMISES.md").read_text("utf-8")
    section = promises.partition("## Figures of the README\n")[2].partition("\n## ")[0]
    figures = _FIGURE.findall(_NO_FIGURES.sub(" ", _README))
    assert len(figures) > 20
    assert sorted(set(figures) - set(_FIGURE.findall(section))) == []


def test_figures_of_the_readme_are_those_of_the_benchmarks() -> None:
    rows = {row[0]: row for row in _read_rows("Answers of a language model")}
    _, count, preferred, preferred_grep, _, right, right_grep, tokens = rows["together"]
    assert f"answered {count} questions with roamtui" in _SENTENCES
    assert f"preferred roamtui's answers {preferred} times and the agent's {preferred_grep} times" in _SENTENCES
    assert f"called {right} and {right_grep} right without a gap" in _SENTENCES
    assert f"roamtui sent {float(tokens):.1f} times as many tokens" in _SENTENCES
    newer, todays = (rows[f"other questions, with {name} instruction"] for name in ("the newer", "today's"))
    sums = [int(first) + int(second) for first, second in zip(newer[1:7], todays[1:7], strict=True)]
    assert f"Of {sums[0]} other questions, with newer instructions, {sums[1]} and {sums[2]} answers" in _SENTENCES
    assert f"were preferred, and {sums[4]} and {sums[5]} were right" in _SENTENCES
    assert f"{float(newer[7]):.1f} times as many tokens for {newer[1]} of them" in _SENTENCES
    assert f"{float(todays[7]):.1f} times as many for {todays[1]}, with today's" in _SENTENCES

    searches = {row[0].partition(" ")[0]: row for row in _read_rows("Compared with plain search")}
    for title, name in _SETS.items():
        _, _, words, ours, *_ = searches[name]
        assert f"| {title} | {ours} | {words} |" in _README
    assert f"up to {policy.HITS_TOKENS_MAX:,} tokens" in _SENTENCES

    viewers = [row for row in _read_rows("Speed") if len(row) == 5]
    starts = {row[0].partition(" ")[0]: float(row[3]) for row in viewers if row[0] != "program"}
    assert f"shows its first words after {starts['roamtui']:.1f} s" in _SENTENCES
    others = f"{starts['hike']:.0f} s (hike), {starts['frogmouth']:.0f} s (frogmouth)"
    viewer = starts["Textual's"]
    assert f"need {others} and {viewer:.0f} s (MarkdownViewer)" in _SENTENCES


def test_figures_of_quotes_are_those_of_the_benchmarks() -> None:
    rows = {row[0].partition(":")[0]: row for row in _read_rows("Finding quotes")}
    reliability = " ".join((PROJECT_DIR / "docs" / "reliability.md").read_text("utf-8").split())
    _, false_tried, false_found = rows["false"]
    _, true_tried, true_found = rows["true"]
    lost = int(true_tried.replace(",", "")) - int(true_found.partition(" ")[0].replace(",", ""))
    assert (
        f"Of {false_tried} quotes that were made false on purpose, roamtui took {false_found} for true." in reliability
    )
    assert f"Of {true_tried} true ones, it did not find {lost}." in reliability


def test_the_readme_names_the_versions_of_python_that_the_package_names() -> None:
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert f"Python {oldest} or newer" in _SENTENCES
    *earlier, last = named
    assert f"tested on Linux with Python {', '.join(earlier)} and {last}." in _SENTENCES
