"""The one table of what a person can do by key.

Key bindings, the command palette, the help screen, the hints at the bottom and the key list of the README are all
made from it. An action `tree.read` is the method `action_read` of the widget that owns the scope `tree`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Where the focus must be for an action's keys to work."""

    GLOBAL = "global"
    TREE = "tree"
    CHAT = "chat"
    READER = "reader"
    INPUT = "input"
    CONVERSATIONS = "conversations"
    FIND = "find"
    NOTES = "notes"
    START = "start"


SCOPE_TITLES = {
    Scope.GLOBAL: "Everywhere",
    Scope.INPUT: "Question box",
    Scope.TREE: "Outline",
    Scope.CHAT: "Conversation",
    Scope.READER: "Reader",
    Scope.CONVERSATIONS: "Saved conversations",
    Scope.FIND: "Finding",
    Scope.NOTES: "Notes",
    Scope.START: "Opening a document",
}
"""How scopes are called on the screen, in the order in which help lists them."""


SCREEN_SCOPES = frozenset({Scope.FIND, Scope.NOTES, Scope.START})
"""Screens of their own, where the keys of other places do not work, so that theirs may be the same."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do."""

    id: str
    """Scope, dot, verb: the name by which a configuration rebinds it."""
    keys: tuple[str, ...]
    """Keys as Textual calls them, the one to show first."""
    label: str
    """One or two words, for hints and the command palette; none for what is not hinted at on a screen of its own."""
    help: str
    """One sentence."""
    is_hinted: bool = False
    """Whether the line at the bottom shows it."""
    in_palette: bool = True
    """False for what makes sense only while the focus is there, such as moving."""
    is_priority: bool = False
    """Whether it goes before what the focused widget itself makes of the key."""

    @property
    def scope(self) -> Scope:
        """Where its keys work."""
        return Scope(self.id.partition(".")[0])

    @property
    def method(self) -> str:
        """Name of the method that does it, without `action_`."""
        return self.id.partition(".")[2]


def _move(action_id: str, keys: str, label: str, sentence: str) -> Action:
    return Action(action_id, tuple(keys.split()), label, sentence, in_palette=False)


def _step(action_id: str, key: str, label: str, sentence: str) -> Action:
    """Return an action that changes the focus: it goes first, so that keys typed quickly after it find the new one."""
    return Action(action_id, (key,), label, sentence, in_palette=False, is_priority=True)


ACTIONS: tuple[Action, ...] = (
    _step("global.next_pane", "tab", "Next pane", "Go to the next pane."),
    _step("global.previous_pane", "shift+tab", "Previous pane", "Go to the previous pane."),
    Action("global.go_tree", ("1",), "Outline", "Go to the outline; in the question box, while it is empty."),
    Action("global.go_chat", ("2",), "Question", "Go to the question box."),
    Action("global.go_reader", ("3",), "Reader", "Go to the reader; in the question box, while it is empty."),
    _step("global.step_out", "escape", "Step out", "Go one step back: close a field, a list or a pane."),
    Action(
        "global.copy_or_cancel",
        ("ctrl+c",),
        "Copy or stop",
        "Copy the selected text; without one, stop the answer that is under way.",
        is_priority=True,
    ),
    Action(
        "global.palette", ("ctrl+p",), "Commands", "Find a command by its name or by what it does.", in_palette=False
    ),
    Action("global.choose_theme", ("f3",), "Theme", "Choose the colours; they change as you look."),
    Action("global.choose_model", ("f2",), "Model", "Choose the model that answers."),
    Action("global.conversations", ("f4",), "Conversations", "List, resume, rename, delete or export conversations."),
    Action("global.notes", ("B",), "Notes", "List what you keep of this document: go there, change, delete, export."),
    Action("global.new_conversation", ("ctrl+n",), "New conversation", "Begin a new conversation; this one is kept."),
    Action("global.open_document", ("ctrl+o",), "Open", "Open another document beside this one, or turn to one."),
    Action("global.next_document", ("ctrl+t",), "Next document", "Turn to the next of the documents that are open."),
    Action("global.close_document", ("f12",), "Close document", "Close this document; its conversation is kept."),
    Action(
        "global.find",
        ("ctrl+f",),
        "Find",
        "Find titles, words in the text and, where search has vectors, meaning: the best of each first.",
        is_priority=True,
    ),
    Action("global.go_page", ("ctrl+g",), "Go to page", "Go to a page of a document that has pages, such as a PDF."),
    Action("global.follow", ("f8",), "Follow", "Have the reader follow the cursor, and what the model opens."),
    Action("global.reload", ("f5",), "Reload", "Read the document again as it is on disk; what is open stays open."),
    Action("global.propose", ("f9",), "Questions", "Have the model propose questions to ask; it costs one request."),
    Action("global.suspend", ("ctrl+z",), "Background", "Put roamtui into the background; `fg` brings it back."),
    Action("global.marks", ("m",), "Marks", "Show what the signs of outline and answers mean."),
    Action("global.help", ("f1", "?"), "Help", "Show all keys; `/` there finds one.", is_hinted=True),
    Action("global.quit", ("ctrl+q",), "Quit", "Leave roamtui.", is_hinted=True, is_priority=True),
    Action(
        "input.send",
        ("enter",),
        "send",
        "Ask the question.",
        is_hinted=True,
        in_palette=False,
        is_priority=True,
    ),
    Action(
        "input.insert_line",
        ("shift+enter", "ctrl+j"),
        "new line",
        "Begin a new line.",
        is_hinted=True,
        in_palette=False,
        is_priority=True,
    ),
    Action(
        "input.history_previous",
        ("up",),
        "earlier question",
        "In the first line: bring back an earlier question.",
        in_palette=False,
        is_priority=True,
    ),
    Action(
        "input.history_next",
        ("down",),
        "later question",
        "In the last line: go forward to a later question.",
        in_palette=False,
        is_priority=True,
    ),
    _step("input.page_up", "pageup", "page up", "Scroll what stands above the box up by a page."),
    _step("input.page_down", "pagedown", "page down", "Scroll what stands above the box down by a page."),
    _move("tree.cursor_down", "j down", "down", "Move to the next line."),
    _move("tree.cursor_up", "k up", "up", "Move to the previous line."),
    _move("tree.page_down", "pagedown ctrl+d", "page down", "Move down by a page."),
    _move("tree.page_up", "pageup ctrl+u", "page up", "Move up by a page."),
    _move("tree.first", "g home", "first", "Move to the first line."),
    _move("tree.last", "G end", "last", "Move to the last line."),
    _move("tree.out", "h left", "out", "Fold the section; if it is folded, move to the one above it."),
    _move("tree.into", "l right", "into", "Unfold the section; if it is unfolded, move to its first child."),
    Action("tree.fold", ("space",), "fold", "Show or hide what is below the section.", is_hinted=True),
    Action("tree.read", ("enter",), "read", "Read the section; the cursor stays. It costs nothing.", is_hinted=True),
    Action(
        "tree.open",
        ("a",),
        "open",
        "Open the section for the conversation: the model gets its text with your next question.",
        is_hinted=True,
    ),
    Action("tree.close", ("x",), "close", "Close the section: the model forgets its text.", is_hinted=True),
    Action("tree.pin", ("p",), "pin", "Keep the section open whatever happens, or let go of it.", is_hinted=True),
    Action("tree.ask", ("i",), "ask about", "Ask about this section alone."),
    Action("tree.keep", ("b",), "keep", "Keep this section among your notes, with words of your own."),
    Action("tree.unfold_all", ("E",), "unfold all", "Unfold everything below the section."),
    Action("tree.fold_all", ("C",), "fold all", "Fold everything below the section."),
    Action("tree.close_agent", ("z",), "tidy up", "Close and fold all that the model opened and you did not pin."),
    Action("tree.undo", ("u",), "undo", "Take back what was last opened, closed or pinned, by whomever."),
    Action("tree.redo", ("U",), "redo", "Do again what was taken back last."),
    Action("tree.last_opened", (".",), "cited", "Go to what the last answer cites, else to what was opened last."),
    Action("tree.next_open", ("}",), "next open", "Go to the next open section."),
    Action("tree.previous_open", ("{",), "previous open", "Go to the previous open section."),
    Action("tree.wider", (">",), "wider outline", "Make the outline wider; its edge can be dragged too."),
    Action("tree.narrower", ("<",), "narrower outline", "Make the outline narrower."),
    Action("tree.filter", ("s",), "titles", "Find titles by a few letters.", is_hinted=True),
    Action("tree.search", ("/",), "search", "Find words in the text of all that is open here.", is_hinted=True),
    Action("tree.find", ("f",), "find", "Find titles, text and meaning at once."),
    Action("tree.next_hit", ("n",), "next match", "Go to the next match of what was searched for."),
    Action("tree.previous_hit", ("N",), "previous match", "Go to the previous match of it."),
    _move("chat.next_target", "j down", "next", "Select the next section that the conversation names."),
    _move("chat.previous_target", "k up", "previous", "Select the previous one."),
    Action(
        "chat.show_target",
        ("enter",),
        "show",
        "Show the selected section in outline and reader, its quote marked.",
        is_hinted=True,
        in_palette=False,
    ),
    _move("chat.page_down", "pagedown ctrl+d", "page down", "Scroll down by a page."),
    _move("chat.page_up", "pageup ctrl+u", "page up", "Scroll up by a page."),
    _move("chat.first", "g home", "top", "Go to the beginning of the conversation."),
    _move("chat.last", "G end", "end", "Go to its end."),
    Action("chat.retry", ("r",), "ask again", "Go back to before the last question and ask it again.", is_hinted=True),
    Action("chat.open_unread", ("o",), "open and ask", "Open what search found and nobody opened, and ask again."),
    Action(
        "chat.edit",
        ("e",),
        "edit question",
        "Change the last question; sending it takes the old one's place.",
        is_hinted=True,
    ),
    Action(
        "chat.fork",
        ("f",),
        "branch off",
        "Begin a new conversation from before the selected or last question; this one is kept.",
    ),
    Action("chat.keep", ("b",), "keep", "Keep the selected quote among your notes."),
    Action("chat.copy", ("y",), "copy answer", "Copy the last answer with its sources.", is_hinted=True),
    _move("reader.scroll_down", "j down", "down", "Scroll down."),
    _move("reader.scroll_up", "k up", "up", "Scroll up."),
    _move("reader.page_down", "pagedown space ctrl+d", "page down", "Scroll down by a page."),
    _move("reader.page_up", "pageup ctrl+u", "page up", "Scroll up by a page."),
    Action("reader.next_section", ("]",), "next section", "Read the next section.", is_hinted=True, in_palette=False),
    Action("reader.previous_section", ("[",), "before", "Read the section before.", is_hinted=True, in_palette=False),
    _move("reader.top", "g home", "top", "Go to the beginning of the document."),
    _move("reader.bottom", "G end", "end", "Go to its end."),
    _move("reader.scroll_right", "right >", "right", "Scroll to the right, in wide tables and code."),
    _move("reader.scroll_left", "left <", "left", "Scroll to the left."),
    Action("reader.search", ("/",), "search", "Find words in the text, from here on.", is_hinted=True),
    Action("reader.next_match", ("n",), "next match", "Go to the next match."),
    Action("reader.previous_match", ("N",), "previous match", "Go to the previous match."),
    Action("reader.next_link", ("l",), "next link", "Select the next link."),
    Action("reader.previous_link", ("h",), "previous link", "Select the previous link."),
    Action(
        "reader.follow",
        ("o", "enter"),
        "follow link",
        "Follow the selected link; fold at a summary.",
        is_hinted=True,
    ),
    Action("reader.back", ("backspace",), "back", "Go back to what you read before.", is_hinted=True),
    Action("reader.open", ("a",), "open", "Open the section for the conversation.", is_hinted=True),
    Action("reader.close", ("x",), "close", "Close the section."),
    Action("reader.pin", ("p",), "pin", "Pin the section, or let go of it."),
    Action("reader.ask", ("i",), "ask about", "Ask about the selected words, or this section alone."),
    Action("reader.keep", ("b",), "keep", "Keep the selected or marked words, or the section.", is_hinted=True),
    Action("reader.copy", ("y",), "copy", "Copy the selection, or the whole section.", is_hinted=True),
    Action(
        "reader.raw", ("r",), "raw", "Show the text exactly as it stands in the file, or formatted.", is_hinted=True
    ),
    Action("reader.wrap", ("w",), "wrap", "Wrap long lines, or let them run.", is_hinted=True),
    Action("reader.edit", ("e",), "edit", "Open the file in $EDITOR at this section.", is_hinted=True),
    _move("conversations.resume", "enter", "resume", "Go on with the conversation."),
    _move("conversations.create", "n", "new", "Begin a new conversation."),
    _move("conversations.search", "/", "search", "Search titles, questions and answers."),
    _move("conversations.toggle_all", "t", "all", "Show conversations about all documents, or this one's."),
    _move("conversations.rename", "r", "rename", "Give the conversation another title."),
    _move("conversations.delete", "d delete", "delete", "Delete the conversation when the list is left."),
    _move("conversations.undo", "u", "undo", "Bring back what was deleted last."),
    _move("conversations.export", "e", "export", "Write the conversation into a Markdown or JSON file."),
    _move("find.read", "enter", "read", "Read the section, what was found marked; `n` and `N` go on from there."),
    _step("find.next_hit", "down", "list", "Select the next section; from the field, go to the list."),
    _move("find.open", "a", "open there", "Open the section for the conversation, from the list."),
    _step("find.previous_hit", "up", "", "Select the previous section; from the first, go to the field."),
    _step("find.next_kind", "tab", "narrow", "List only titles, text or meaning, then all again."),
    _step("find.previous_kind", "shift+tab", "", "The same the other way round."),
    _step("find.page_down", "pagedown", "scroll", "Scroll the section that is shown down."),
    _step("find.page_up", "pageup", "", "Scroll it up."),
    _move("notes.go", "enter", "go there", "Read the place, the words that you kept marked."),
    _move("notes.edit", "e", "your words", "Change your own words."),
    _move("notes.delete", "x delete", "delete", "Delete the note when the list is left."),
    _move("notes.undo", "u", "undo", "Bring back what was deleted last."),
    _move("notes.export", "w", "export", "Write all notes into a Markdown file."),
    _move("start.open", "enter", "open", "Open what is typed or chosen."),
    _move("start.next", "down", "next", "Select the next one."),
    _move("start.previous", "up", "previous", "Select the previous one."),
    _step("start.complete", "tab", "complete", "Complete the path, or take the chosen one into the box."),
    _move("start.leave", "escape", "close", "Stop opening, empty the box, or close."),
)


def render_key_table(actions: tuple[Action, ...] = ACTIONS) -> str:
    """Return the keys as a Markdown table, as the README shows it."""
    lines = ["| where | key | does |", "|---|---|---|"]
    for scope, title in SCOPE_TITLES.items():
        for action in actions:
            if action.scope is scope:
                keys = " ".join(f"`{show_key(key)}`" for key in action.keys)
                lines.append(f"| {title} | {keys} | {action.help} |")
    return "\n".join(lines) + "\n"


_KEY_NAMES = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def show_key(key: str) -> str:
    """Return a key as it is written on the screen."""
    return _KEY_NAMES.get(key, key)
