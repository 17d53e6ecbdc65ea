"""An app after many questions, for the bench and the test of what a long conversation costs."""

from collections.abc import Iterator

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import QuestionAnswered, QuestionAsked, RecordedEvent, StopReason
from roamtui.conversation.state import fold_events
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.app import RoamApp
from tests.fakes.services import app_over
from tests.real_documents import PROJECT_DIR
from tests.tui.driving import make_session

_CITATIONS = 3
"""How many each answer has."""


def make_long_app(questions: int) -> RoamApp:
    """Return an app over the handbook after so many questions with answers. The next one is being answered."""
    text = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    session = make_session(library=Library(source="handbook.md", root=parse_document(text)))
    conversation = session.conversation
    conversation.state = fold_events(conversation.state, *_make_events(conversation.state.library, questions))
    return app_over(session)


def _make_events(library: Library, questions: int) -> Iterator[RecordedEvent]:
    ids = list(library.walk())
    for number in range(1, questions + 1):
        cited = [ids[(_CITATIONS * number + index) % len(ids)] for index in range(_CITATIONS)]
        yield QuestionAsked(number=number, question=f"What is said about number {number}?")
        yield QuestionAnswered(
            number=number,
            answer=" ".join(f"It is said [{section_id}]." for section_id in cited),
            stopped=StopReason.ANSWERED,
            citations=tuple(
                Citation(section_id=section_id, quote=None, state=QuoteState.NO_QUOTE) for section_id in cited
            ),
        )
    yield QuestionAsked(number=questions + 1, question="And the last one?")
