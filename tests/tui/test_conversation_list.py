"""Which saved conversations are listed, and how they are told."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from roamtui.conversation.store import ConversationSummary, Store
from roamtui.tui.conversation_list import (
    ConversationList,
    delete_all,
    propose_file_name,
)
from tests.conversation.conversations import Recorder


def make_summary(name: str, *, source: str = "/docs/a.md", title: str = "", questions: int = 2) -> ConversationSummary:
    return ConversationSummary(
        id=name,
        source=source,
        title=title or f"About {name}?",
        model="offline",
        created_at="2026-01-01T00:00:00+00:00",
        updated_at="2026-01-02T03:04:05+00:00",
        questions=questions,
    )


def make_list() -> ConversationList:
    summaries = (make_summary("one"), make_summary("two"), make_summary("three", source="/docs/b.md"))
    return ConversationList("/docs/a.md", summaries)


def show(conversations: ConversationList) -> list[str]:
    return [summary.id for summary in conversations.visible]


def test_titles_are_searched_before_the_rest_is_read() -> None:
    conversations = make_list()
    conversations.pattern = "two"
    assert show(conversations) == ["two"]


def test_one_that_cannot_be_deleted_does_not_keep_the_others(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "conversations")) as store:
        for name in "ac":
            store.write(Recorder(name).ask().log)
        assert delete_all(store, "abc") == ['There is no conversation "b". `roamtui conversations` lists them.']
        assert store.list() == ()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How many loaves?", "how-many-loaves.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("Größe: 標題", "größe-標題.md"),
        ("???", "x.md"),
        ("a" * 300, "a" * 60 + ".md"),
    ],
)
def test_a_file_name_is_made_from_the_title(title: str, name: str) -> None:
    assert propose_file_name(make_summary("x", title=title)) == name
