"""`ConversationList`: the saved conversations that a person sees, deletes or writes into a file. Knows no screen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from roamtui.conversation import export
from roamtui.conversation.store import ConversationSummary, Store
from roamtui.document.plain import plain_line
from roamtui.errors import StoreError

_FILE_NAME_LENGTH = 60


@dataclass(slots=True)
class ConversationList:
    """Saved conversations, narrowed to one document or to what holds some words."""

    source: str
    """What the document of today is known by."""
    summaries: tuple[ConversationSummary, ...] = ()
    words: Mapping[str, str] | None = None
    """Questions and answers by conversation, None until they are read."""
    is_all: bool = False
    """Whether conversations about other documents are shown too."""
    pattern: str = ""
    deleted_ids: tuple[str, ...] = ()
    """Hidden now and deleted when the person leaves, the last one last."""
    _folded: dict[str, str] = field(default_factory=dict)
    """All that is searched of a conversation, made once: with thousands of them every key would cost 0.1 s."""

    @property
    def visible(self) -> tuple[ConversationSummary, ...]:
        """What is shown, newest change first: each typed word stands in its title, file, model or text."""
        wanted = self.pattern.casefold().split()
        return tuple(
            summary
            for summary in self.summaries
            if summary.id not in self.deleted_ids
            and (self.is_all or self.is_here(summary))
            and all(word in self._text_of(summary) for word in wanted)
        )

    def is_here(self, summary: ConversationSummary) -> bool:
        """Return whether a conversation is about the document of today."""
        return summary.source == self.source

    def find(self, conversation_id: str) -> ConversationSummary | None:
        """Return a conversation, None where there is no such one."""
        return next((summary for summary in self.summaries if summary.id == conversation_id), None)

    def rename(self, conversation_id: str, title: str) -> None:
        """Show another title."""
        self._folded.pop(conversation_id, None)
        self.summaries = tuple(
            replace(summary, title=title) if summary.id == conversation_id else summary for summary in self.summaries
        )

    def take_words(self, words: Mapping[str, str]) -> None:
        """Search these questions and answers from now on."""
        self.words = words
        self._folded.clear()

    def delete(self, conversation_id: str) -> None:
        """Hide a conversation until the person leaves."""
        self.deleted_ids = (*self.deleted_ids, conversation_id)

    def undo(self) -> str | None:
        """Bring back what was deleted last and return its id, None where nothing was."""
        if not self.deleted_ids:
            return None
        *rest, last = self.deleted_ids
        self.deleted_ids = tuple(rest)
        return last

    def _text_of(self, summary: ConversationSummary) -> str:
        folded = self._folded.get(summary.id)
        if folded is None:
            words = (self.words or {}).get(summary.id, "")
            folded = f"{summary.title}\n{summary.source}\n{summary.model}\n{words}".casefold()
            self._folded[summary.id] = folded
        return folded


def delete_all(store: Store, conversation_ids: Iterable[str]) -> list[str]:
    """Delete conversations for good; return sentences about what could not be deleted, or not everywhere."""
    problems: list[str] = []
    for conversation_id in conversation_ids:
        try:
            store.delete(conversation_id)
        except StoreError as error:
            problems.append(str(error))
    return [*problems, *store.take_reports()]


def name_conversation(summary: ConversationSummary) -> str:
    """Return a conversation's title, safe for the screen."""
    return plain_line(summary.title) or "(no question yet)"


def describe_conversation(summary: ConversationSummary, *, with_source: bool) -> str:
    """Return how large a conversation is, when it was changed, with which model and, if wanted, about what."""
    count = "1 question" if summary.questions == 1 else f"{summary.questions:,} questions"
    parts = [count, _show_time(summary.updated_at), plain_line(summary.model)]
    if with_source:
        parts.append("standard input" if summary.source.startswith("-") else plain_line(Path(summary.source).name))
    return " · ".join(part for part in parts if part)


def propose_file_name(summary: ConversationSummary) -> str:
    """Return a name for an exported conversation that every file system takes."""
    words = re.findall(r"\w+", summary.title.lower())
    return f"{'-'.join(words)[:_FILE_NAME_LENGTH].strip('-_') or summary.id}.md"


def _show_time(moment: str) -> str:
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return ""


def render_conversation(store: Store, summary: ConversationSummary, path: Path) -> str:
    """Return a conversation as JSON for a path that ends in ``.json``, as Markdown for any other.

    Raises:
        StoreError: The conversation cannot be read.
    """
    saved = store.load(summary.id)
    if path.suffix.lower() == ".json":
        described = export.describe_conversation(saved, summary.source)
        return json.dumps(described, ensure_ascii=False, indent=2) + "\n"
    return export.render_markdown(saved, summary.source)
