"""A store writes what is new, takes out what is gone, and then answers as one that was filled at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.document.library import Library
from roamtui.search.base import IndexLostError
from roamtui.search.index import SectionIndex
from roamtui.search.query import code_identifier
from roamtui.search.store import parts, sections
from roamtui.search.store.sections import SectionStore
from tests.search.libraries import make_folder, make_library

WEIGHTS = (3.0, 1.0, 1.0, 2.0, 0.3)
FILES = {
    "a.md": "# Apples\n\nRed and round. getApple\n\n## Kinds\n\nBoskoop\n",
    "b/c.md": "# Cherries\n\nRed and small.\n",
    "d.md": "# Dates\n\nBrown.\n",
}


def rank_titles(index: SectionIndex, expression: str) -> list[str]:
    """Return the titles that an expression finds, the best first."""
    return [index.title(number) for number, _ in index.rank(expression, WEIGHTS, range(len(index)), 20)]


def rank_scores(index: SectionIndex, expression: str) -> dict[str, float]:
    """Return scores by id."""
    found = index.rank(expression, WEIGHTS, range(len(index)), 20)
    return {index.id_of(number): round(score, 9) for number, score in found}


class _Telling:
    """Remembers how much was to be written."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, done: int, total: int) -> None:
        assert done <= total
        self.total = total


def _change(library: Library, **texts: str) -> Library:
    """Return a library whose unchanged files are the very same documents."""
    names = {"c": "b/c.md"}
    changed = make_folder({**FILES, **{names.get(name, f"{name}.md"): text for name, text in texts.items()}})
    old = {document.key: document for document in library.documents}
    grafts = {
        node: old[new.key] if old.get(new.key) is not None and old[new.key].text == new.text else new
        for node, new in changed.grafts.items()
    }
    return Library(source=library.source, root=changed.root, grafts=grafts)


def test_only_a_changed_file_is_written() -> None:
    library = make_folder(FILES)
    before = SectionIndex(library)
    telling = _Telling()
    after = SectionIndex(_change(library, d="# Dates\n\nBrown and sweet.\n"), before.store, before=before, tell=telling)

    assert telling.total == 1
    assert rank_titles(after, '"sweet"') == ["Dates"]
    assert rank_titles(after, '"red"') == rank_titles(before, '"red"')


def test_a_text_that_is_written_in_pieces_is_found_and_taken_out_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_library('# Pumps\n\nA "pump_valve" \\ or a pumpGauge,\tin \u2028caf\xe9s.\n')
    whole = SectionIndex(library)
    for module in (parts, sections):
        monkeypatch.setattr(module, "_PIECE_LENGTH", 3)
    index = SectionIndex(library, SectionStore(tmp_path / "index.sqlite3"))
    expressions = ('"pump"', '"gauge"', '"cafes"', f"names : {code_identifier('pump_valve')}")
    for expression in expressions:
        assert rank_scores(index, expression) == rank_scores(whole, expression) != {}

    after = SectionIndex(make_library("# Dates\n"), index.store, before=index)
    assert [rank_titles(after, expression) for expression in expressions] == [[]] * len(expressions)
    assert not after.store.has_stem("gaug")


def test_runs_are_remembered_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_RUNS_MAX", 2)
    names = parts.NamesByRun()
    before = [names[run] for run in ("a_b", "plain", "getApple")]
    assert [names[run] for run in ("a_b", "plain", "getApple")] == before
    assert before[1] is None
    assert len(names) <= 2


def test_after_changes_it_answers_like_a_new_one() -> None:
    library = make_folder(FILES)
    index = SectionIndex(library)
    for texts in ({"d": "# Dates\n\nRed too.\n"}, {"c": "# Currants\n\nRed.\n"}, {"e": "# Elder\n\nRed? Black.\n"}, {}):
        library = _change(library, **texts)
        index = SectionIndex(library, index.store, before=index)
        for expression in ('"red"', '"red" OR "brown" OR "small"', 'names : "x"', '"appl"'):
            assert rank_scores(index, expression) == rank_scores(SectionIndex(library), expression)
        assert list(index.store.list_title_words()) == list(SectionIndex(library).store.list_title_words())


def test_a_file_that_is_gone_is_found_no_more() -> None:
    before = SectionIndex(make_folder(FILES))
    after = SectionIndex(make_folder({"a.md": FILES["a.md"]}), before.store, before=before)

    assert rank_titles(after, '"brown" OR "cherri" OR "red"') == ["Apples"]
    assert list(after.store.list_title_words()) == ["apples", "kinds"]


def test_a_loaded_file_is_no_longer_a_line_of_the_listing() -> None:
    whole = make_folder(FILES)
    listing = Library(source=whole.source, root=whole.root)
    before = SectionIndex(listing)
    assert rank_titles(before, '"d"') == ["d.md"]

    after = SectionIndex(whole, before.store, before=before)
    assert rank_titles(after, '"d"') == ["Dates"]


def test_an_index_of_an_earlier_library_finds_nothing_of_the_later_one() -> None:
    library = make_folder(FILES)
    before = SectionIndex(library)
    SectionIndex(_change(library, d="# Dates\n\nRed now.\n"), before.store, before=before)

    assert "Dates" not in rank_titles(before, '"red"')
    assert rank_titles(before, '"small"') == ["Cherries"]


def test_a_long_document_is_written_in_parts() -> None:
    text = "".join(f"# Title {number}\n\nWord{number}.\n\n" for number in range(6_000))
    before = SectionIndex(make_library(text))
    telling = _Telling()
    after = SectionIndex(make_library(text.replace("Word5999.", "Other.")), before.store, tell=telling)

    assert telling.total == 1_000
    assert rank_titles(after, '"other"') == ["Title 5999"]
    assert rank_titles(after, '"word1"') == ["Title 1"]


def test_the_same_text_under_two_names_is_found_twice() -> None:
    index = SectionIndex(make_folder({"a.md": "# One\n\nZebra.\n", "b.md": "# One\n\nZebra.\n"}))
    found = index.rank('"zebra"', WEIGHTS, range(len(index)), 5)
    assert {index.document(number).key for number, _ in found} == {"a.md", "b.md"}


def test_a_broken_expression_is_told_and_nothing_is_lost() -> None:
    index = SectionIndex(make_folder(FILES))
    with pytest.raises(IndexLostError):
        index.rank('"red" AND', WEIGHTS, range(len(index)), 5)
    assert rank_titles(index, '"brown"') == ["Dates"]


def test_counts_follow_what_is_written() -> None:
    store = SectionStore()
    library = make_folder(FILES)
    index = SectionIndex(library, store)
    assert store.count('"red"', 10) == 2
    assert store.count('"red"', 1) == 1
    SectionIndex(_change(library, d="# Dates\n\nRed too.\n"), store, before=index)
    assert store.count('"red"', 10) == 3
