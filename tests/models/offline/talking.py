"""Talks with the offline model through the real loop, over a small document."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.agent.loop import Agent
from roamtui.conversation.events import QuestionAnswered, SectionsExpanded, SectionsSearched
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.models.offline.model import OfflineModel
from roamtui.search.keyword import KeywordSearcher

FERRY = """\
# Ferry handbook

How the island ferry runs.

## Timetable

The first boat leaves at six. The last boat leaves at ten in the evening.

## Tickets

### Foot passengers

A single ticket for a foot passenger costs 4 crowns. Children under six travel free.

### Cars

A car costs 30 crowns each way. A trailer costs 12 crowns more.

### Bicycles

A bicycle costs 2 crowns. It stands on the lower deck.

## Weather

The "red flag" means that no boat leaves. Ask the harbour master.

## Lost things

Lost things are kept for forty days in the harbour office.
"""


@dataclass(kw_only=True)
class Talk:
    """A conversation with the offline model."""

    agent: Agent
    answer: QuestionAnswered | None = None
    searches: int = 0
    opened: tuple[str, ...] = ()
    """Titles that the last question opened."""

    async def ask(self, question: str, within: str | None = None) -> QuestionAnswered:
        """Ask, about the section of a title where there is one, and return how it ended."""
        library = self.agent.session.state.library
        opened: list[str] = []
        self.searches = 0
        section_id = next((i for i in library.walk() if library.title_of(i) == within), None)
        async for event in self.agent.ask(question, within=section_id):
            if isinstance(event, SectionsExpanded):
                newest = self.agent.session.state.library
                opened += [newest.title_of(section_id) for section_id in event.opened_ids]
            self.searches += isinstance(event, SectionsSearched)
            if isinstance(event, QuestionAnswered):
                self.answer = event
        self.opened = tuple(opened)
        assert self.answer is not None
        return self.answer


def make_talk(text: str = FERRY, *, has_search: bool = True) -> Talk:
    """Return a conversation about `text` that has not begun."""
    library = Library(source="ferry.md", root=parse_document(text))
    searcher = KeywordSearcher(library) if has_search else None
    return Talk(agent=Agent(Session.start(library), OfflineModel(), searcher))
