"""Saved conversations in files."""

from pathlib import Path

import pytest

from roamtui.conversation.events import DocumentIdentified, QuestionAsked
from roamtui.conversation.log import open_store
from roamtui.errors import UsageError
from roamtui.headless.conversations import export_conversation, print_conversations
from roamtui.sources.source_names import join_sources
from tests.conversation.conversations import Recorder, make_library


def _save_about(source: str) -> None:
    """Save the conversation ab12, in which one question was asked about a source."""
    identified = DocumentIdentified(source=source, content_hash="")
    log = open_store().start("ab12", [*Recorder("ab12").events, identified, QuestionAsked(number=1, question="Why?")])
    log.save()
    log.close()


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


def test_each_of_several_documents_is_listed_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _save_about(join_sources(str(tmp_path / name) for name in ("a.md", "b.md")))
    print_conversations(lists_one_shots=False)
    assert capsys.readouterr().out.endswith("(1 question, a.md, b.md)\n")
