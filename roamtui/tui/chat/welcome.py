"""The view before the first question: what the document is, where the person left off, keys and example questions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten, strip_anchor
from roamtui.document.tokens import format_tokens
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, ConversationTarget, ExampleTarget, wrap
from roamtui.tui.status_line import describe_model
from roamtui.tui.tree.visible_lines import estimate_row_tokens

if TYPE_CHECKING:  # the first screen does without the store
    from roamtui.conversation.log import ConversationSummary

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
_KEY_HINTS = (
    ("input.send", "ask your question"),
    ("global.back", "browse the outline"),
    ("global.help", "show all keys"),
)
"""Actions, and what their keys do."""
_LIST_MARKER = Content.styled("› ", "bold $secondary")
_CONVERSATIONS_SHOWN = 2


class WelcomeView(ContentView):
    """What the chat shows before the first question."""

    def __init__(self, library: Library, examples: tuple[str, ...], model: str, keys: Keymap) -> None:
        super().__init__(id="welcome")
        self._examples = examples
        self._model = model
        self._keys = keys
        self._saved_conversations: tuple[ConversationSummary, ...] = ()
        self.show_library(library)

    def show_library(self, library: Library) -> None:
        """Describe a document, or another version of it."""
        self._contents, self._chapters = describe_contents(library)
        self.invalidate()

    def show_saved_conversations(self, saved: tuple[ConversationSummary, ...]) -> None:
        """Show the first of the saved conversations, and how many more there are."""
        self._saved_conversations = saved
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
        lines.append(Content())
        for action_id, words in _KEY_HINTS:
            lead = Content.styled(f"{self._keys.format_first_key(action_id):<6} ", "bold $accent")
            lines += wrap(Content(words), width, lead=lead, follow=" " * 7)
        saved = self._saved_conversations[:_CONVERSATIONS_SHOWN]
        conversations = (ConversationTarget(conversation.id) for conversation in saved)
        self.targets = (*conversations, *map(ExampleTarget, self._examples))
        if saved:
            more = len(self._saved_conversations) - len(saved)
            key = self._keys.format_first_key("global.conversations")
            about = f" · {key} lists {f'{more:,} more' if more > 0 else 'them'}"
            lines += [Content(), Content.assemble(("Saved", "bold $muted"), (about, "$muted"))]
        for index, conversation in enumerate(saved):
            title = Content(sanitise_line(conversation.title)).truncate(max(4, width - 2), ellipsis=True)
            lines.append(_LIST_MARKER + self.attach(title, index))
        if self._examples:
            lines += [Content(), Content.assemble(("Try", "bold $muted"), (" · ↑ takes one", "$muted"))]
        for index, question in enumerate(self._examples, len(saved)):
            row = self.attach(Content(sanitise_line(question)), index)
            lines += wrap(row, width, lead=_LIST_MARKER, follow="  ")
        how = f"{self._keys.format_first_key('global.choose_model')} changes it."
        model = Content.assemble(
            ("Model  ", "bold $muted"),
            (sanitise_line(self._model), "bold"),
            f" · {describe_model(self._model)} ",
            (how, "$muted"),
        )
        return Content("\n").join([*lines, Content(), *wrap(model, width)])


def describe_contents(library: Library) -> tuple[str, str]:
    """Say what a document consists of, such as ``8 chapters, 24 pages``, and list the first titles at its top."""
    root, columns = library.root, library.root.columns
    rows = list(columns.children(-1 if root.title_row is None else root.title_row))
    counted = Counter(columns.kinds[row] for row in rows)
    parts = [format_count(counted[kind], noun) for kind, noun in _NOUNS.items() if counted[kind]]
    if root.page_starts:
        parts.append(format_count(len(root.page_starts), "page"))
    elif not library.list_unloaded_files():
        tokens = sum(estimate_row_tokens(document, 0, len(document.columns)) for document in library.documents)
        parts.append(f"~{format_tokens(tokens)} tokens")
    titled = [row for row in rows if columns.kinds[row] not in (NodeKind.PREAMBLE, NodeKind.TEXT)]
    titles = (strip_anchor(sanitise_line(columns.titles[row])) for row in titled[:_TITLES_MAX])
    return ", ".join(parts), " · ".join(titles)
