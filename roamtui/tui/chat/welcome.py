"""The view before the first question: what the document is, its chapters, and questions to try."""

from __future__ import annotations

from collections import Counter

from textual.content import Content
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import format_count, sanitise_line, shorten, strip_anchor
from roamtui.document.text import format_tokens
from roamtui.models.base import OFFLINE
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, ExampleTarget, wrap
from roamtui.tui.tree.visible_lines import estimate_row_tokens

_NOUNS = {
    NodeKind.SECTION: "chapter",
    NodeKind.TEXT: "part",
    NodeKind.LINK: "linked page",
    NodeKind.FOLDER: "folder",
    NodeKind.FILE: "document",
}
"""What people call the nodes at the top of a library."""
_TITLES_MAX = 100
_CHAPTERS_LINES_MAX = 2
"""Maximum number of lines with the titles of chapters."""
_LINE_END_LENGTH = 8
"""Number of characters that may stay free at the end of a line."""
_LIST_MARKER = Content.styled("› ", "bold $secondary")


class WelcomeView(ContentView):
    """What the chat shows before the first question."""

    def __init__(self, library: Library, examples: tuple[str, ...], model: str, keys: Keymap) -> None:
        super().__init__(id="welcome")
        self._examples = examples
        self._model = model
        self._keys = keys
        self.show_library(library)

    def show_library(self, library: Library) -> None:
        """Describe a document, or another version of it."""
        self._contents, self._chapters = describe_contents(library)
        self.invalidate()

    def show_model(self, model: str) -> None:
        self._model = model
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
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
        role = "receives your questions and the sections it opens."
        if self._model == OFFLINE:
            role = "no key, no network; quotes passages but does not reason."
        how = f"{self._keys.first_keys['global.choose_model']} changes it."
        model = Content.assemble(
            ("Model  ", "bold $muted"),
            (sanitise_line(self._model), "bold"),
            f" · {role} ",
            (how, "$muted"),
        )
        return Content("\n").join([*lines, Content(), *wrap(model, width)])


def describe_contents(library: Library) -> tuple[str, str]:
    """Say what a document consists of, such as ``8 chapters, 24 pages``, and list the first titles at its top."""
    root, columns = library.root, library.root.columns
    rows = [root.rows_by_id[one] for one in root.list_children(-1 if root.title_row is None else root.title_row)]
    counted = Counter(columns.kinds[row] for row in rows)
    parts = [format_count(counted[kind], noun) for kind, noun in _NOUNS.items() if counted[kind]]
    if root.page_starts:
        parts.append(format_count(len(root.page_starts), "page"))
    elif not library.unloaded_files:
        tokens = sum(estimate_row_tokens(document, 0, len(document.columns)) for document in library.documents)
        parts.append(f"~{format_tokens(tokens)} tokens")
    titled = [row for row in rows if columns.kinds[row] not in (NodeKind.PREAMBLE, NodeKind.TEXT)]
    titles = (strip_anchor(sanitise_line(columns.titles[row])) for row in titled[:_TITLES_MAX])
    return ", ".join(parts), " · ".join(titles)
