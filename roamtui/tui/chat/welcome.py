"""`WelcomeView`: a description of the document and the model, and examples of questions."""

from textual.content import Content
from typing_extensions import override

from roamtui.conversation.messages import OFFLINE
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.sanitiser import sanitise_line
from roamtui.text import format_count, shorten
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, wrap
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

    def __init__(self, library: Library, examples: tuple[str, ...], model: str, keys: Keymap) -> None:
        super().__init__()
        self._examples = examples
        self._model = model
        self._keys = keys
        self.show_library(library)

    def show_library(self, library: Library) -> None:
        """Describe a document: the number of its parts and pages, and the titles at its top level."""
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
        self._contents = ", ".join(parts)
        self._chapters = " · ".join(titles)
        self.invalidate()

    def show_model(self, model: str) -> None:
        """Say which model will answer."""
        self._model = model
        self.invalidate()

    @override
    def draw(self, width: int) -> list[Content]:
        lines = wrap(Content(self._contents), width)
        if self._chapters:
            chapters = shorten(self._chapters, _CHAPTERS_LINES_MAX * (width - _LINE_END_LENGTH))
            lines += wrap(Content.styled(chapters, "$muted"), width)
        self.targets = [*map(ExampleTarget, self._examples)]
        if self._examples:
            lines += [Content(), Content.assemble(("Try", "bold $muted"), (" · ↑ takes one", "$muted"))]
        for index, question in enumerate(self._examples):
            row = self.attach(Content(sanitise_line(question)), index)
            lines += wrap(row, width, lead=_LIST_MARKER, follow="  ")
        role = "receives your questions, the outline and the text it reads."
        if self._model == OFFLINE:
            role = "no key, no network; quotes passages but does not reason."
        how = f"{self._keys.first_keys['global.choose_model']} changes it."
        model = Content.assemble(
            ("Model  ", "bold $muted"), (sanitise_line(self._model), "bold"), f" · {role} ", (how, "$muted")
        )
        return [*lines, Content(), *wrap(model, width)]
