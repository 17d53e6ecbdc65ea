"""`WelcomeView`: a description of the document and the model, and examples of questions."""

from textual.content import Content
from typing_extensions import override

from roamtui.conversation.messages import OFFLINE
from roamtui.document.document import NodeKind
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, wrap
from roamtui.tui.context import DocumentSession
from roamtui.tui.messages import ExampleTarget

_NOUNS = {NodeKind.FILE: "document", NodeKind.LINK: "linked page"}
"""What people call the nodes that may not be loaded yet."""
_TITLES_MAX = 100
_CHAPTERS_LINES_MAX = 2
"""Maximum number of lines with the titles of chapters."""
_LINE_END_LENGTH = 8
"""Number of characters that may stay free at the end of a line."""
_LIST_MARKER = Content.styled("› ", "bold $secondary")


class WelcomeView(ContentView):
    """What the chat shows before the first question."""

    def __init__(self, session: DocumentSession, keys: Keymap) -> None:
        """Describe the document and the model of `session` now. `invalidate` describes them again."""
        super().__init__()
        self._agent = session.agent
        self._examples = session.examples
        self._keys = keys

    def _describe_library(self) -> tuple[str, str]:
        """Return the number of the document's parts and pages, and the titles at its top level."""
        library = self._agent.conversation.state.library
        root = library.root
        columns = root.columns
        counts = {noun: columns.kinds.count(kind) for kind, noun in _NOUNS.items()}
        parts = [format_count(count, noun) for noun, count in counts.items() if count]
        if not parts:
            parts.append(format_count(library.section_count, "section"))
        if root.page_starts:
            parts.append(format_count(len(root.page_starts), "page"))
        top_row = -1 if root.title_row is None else root.title_row
        rows = [root.rows_by_id[child] for child in root.list_children(top_row)]
        titled = [row for row in rows if columns.kinds[row] not in (NodeKind.PREAMBLE, NodeKind.TEXT)]
        titles = (sanitise_line(columns.get_shown_title(row)) for row in titled[:_TITLES_MAX])
        return ", ".join(parts), " · ".join(titles)

    @override
    def draw(self, width: int) -> list[Content]:
        contents, titles = self._describe_library()
        lines = wrap(Content(contents), width)
        if titles:
            chapters = shorten(titles, _CHAPTERS_LINES_MAX * (width - _LINE_END_LENGTH))
            lines += wrap(Content.styled(chapters, "$muted"), width)
        self.targets = [*map(ExampleTarget, self._examples)]
        if self._examples:
            lines += [Content(), Content.assemble(("Try", "bold $muted"), (" · ↑ takes one", "$muted"))]
        for index, question in enumerate(self._examples):
            row = self.attach(Content(sanitise_line(question)), index)
            lines += wrap(row, width, lead=_LIST_MARKER, follow="  ")
        role = "receives your questions, the outline and the text it reads."
        model = self._agent.model.name
        if model == OFFLINE:
            role = "no key, no network; quotes passages but does not reason."
        how = f"{self._keys.first_keys['global.choose_model']} changes it."
        answerer = Content.assemble(
            ("Model  ", "bold $muted"), (sanitise_line(model), "bold"), f" · {role} ", (how, "$muted")
        )
        return [*lines, Content(), *wrap(answerer, width)]
