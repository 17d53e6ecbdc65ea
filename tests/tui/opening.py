"""What the tests of opening documents share: an app that opens scripted ones."""

from threading import Event

from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.convert.converted import ProgressCallback
from roamtui.errors import SourceError
from roamtui.models.base import Model
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession, OfferGroup, StartOffer, TuiOptions
from tests.agent.asking import NO_HITS
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options, session_of

OFFERS = (
    StartOffer(
        group=OfferGroup.CONVERSATION,
        name="What of fees?",
        note="1 question",
        source="/d/fees.md",
        conversation_id="c1",
    ),
    StartOffer(group=OfferGroup.EXAMPLE, name="A handbook", note="to try", source="/d/handbook.md"),
    StartOffer(group=OfferGroup.EXAMPLE, name="[red]Odd[/]", note="tools", source="https://odd.example/llms.txt"),
)


class Opener:
    """Takes note of what is opened; what holds "bad" is refused, and a PDF is read until nobody wants it."""

    def __init__(self, store: ConversationStore | None = None) -> None:
        self.store = store
        self.opened: list[tuple[str, str | None]] = []
        self.models: list[Model | None] = []
        self.pages_read = Event()

    def make_first(
        self, source: str, conversation_id: str | None = None, model: Model | None = None
    ) -> DocumentSession:
        """Return a document of one section that is called as its source."""
        library = make_document_library(
            SourceText(text=f"# Of {source}\n\nIt has 40 loaves.\n", source=source, name="a")
        )
        session = Conversation(library, store=self.store)
        if conversation_id and self.store is not None:
            session.resume(conversation_id)
        return session_of(Agent(session, model or ScriptedModel(), options=NO_HITS))

    def open(
        self, source: str, conversation_id: str | None, model: Model | None, on_progress: ProgressCallback
    ) -> DocumentSession:
        self.opened.append((source, conversation_id))
        self.models.append(model)
        if source.endswith(".pdf"):
            self._convert(on_progress)
        if "bad" in source:
            raise SourceError(f"{source} cannot be read: it is bad.")
        return self.make_first(source, conversation_id, model)

    def _convert(self, on_progress: ProgressCallback) -> None:
        """Read the seventh page of 1,200 for as long as that is wanted."""
        try:
            while True:
                on_progress(7, 1_200)
                self.pages_read.wait(0.01)
        finally:
            self.pages_read.set()

    @property
    def opening(self) -> TuiOptions:
        return make_options(
            list_offers=lambda: OFFERS,
            open_source=self.open,
            save_settings=lambda _values: None,
        )

    def make_app(self, first: str | None = None, theme: str | None = None) -> RoamApp:
        """Return an app over a document, or one that begins where a person chooses it."""
        return RoamApp(replace(self.opening, theme=theme), self.make_first(first) if first is not None else None)
