"""Saved conversations, listed and printed."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from roamtui.conversation.events import DocumentIdentified, QuestionAsked, RecordedEvent
from roamtui.conversation.log import open_store
from roamtui.errors import UsageError
from roamtui.headless.conversations import export_conversation, print_conversations
from roamtui.paths import get_conversations_path
from roamtui.sources.source_names import join_sources
from tests.conversation.conversations import Recorder, make_library


def _save(conversation_id: str, events: Iterable[RecordedEvent]) -> None:
    log = open_store().start(conversation_id, events)
    log.save()
    log.close()


def _save_about(source: str) -> None:
    """Save the conversation ab12, in which one question was asked about a source."""
    identified = DocumentIdentified(source=source, content_hash="")
    _save("ab12", [*Recorder("ab12").events, identified, QuestionAsked(number=1, question="Why?")])


@pytest.fixture
def saved() -> None:
    for conversation_id in ("ab12", "ab12cd", "ef34"):
        _save(conversation_id, Recorder(conversation_id).ask(f"Why {conversation_id}?", "Alpha").events)


@pytest.mark.parametrize("names", [["a.md", "b.md"], ["."]])
def test_an_export_replaces_no_document_of_several(tmp_path: Path, names: list[str]) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# Notes\n", "utf-8")
    _save_about(join_sources(str(tmp_path / name) for name in names))
    with pytest.raises(UsageError, match="one of the documents"):
        export_conversation("ab12", "md", lambda *_: make_library(), tmp_path / "b.md")
    with pytest.raises(UsageError, match=r"must end in \.md, \.json or \.html\."):
        export_conversation("ab12", "md", lambda *_: make_library(), tmp_path / "b.txt")
    export_conversation("ab12", "md", lambda *_: make_library(), tmp_path / "new.md")


@pytest.mark.usefixtures("saved")
def test_a_damaged_conversation_is_listed_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    unreadable, torn = (get_conversations_path() / f"{name}.jsonl" for name in ("ab12", "ef34"))
    unreadable.write_bytes(b"\xff" + unreadable.read_bytes())
    torn.write_bytes(torn.read_bytes().replace(b'"event": "question_answered"', b'"event": "question_\xffnswered"'))
    print_conversations(lists_one_shots=False)
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["ab12"].endswith("  It is damaged, or is not a roamtui conversation.")
    assert lines["ef34"].endswith("  Why ef34?  (1 question, manual.md)  It is damaged: the rest cannot be read.")
    assert lines["ab12cd"].endswith("(1 question, manual.md)")
    export_conversation("ef34", "md", lambda *_: make_library())
    output, errors = capsys.readouterr()
    assert "Why ef34?" in output
    assert errors == "roamtui: conversation ef34: It is damaged: the rest cannot be read.\n"
