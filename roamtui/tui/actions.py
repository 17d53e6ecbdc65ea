"""The table of all actions that have keys.

Key bindings, the list of commands, the hints at the bottom and docs/keys.md are all generated from it. The
action `tree.read` calls the method `action_read` of the widget that owns the scope `tree`, unless its row
names another method. A `Keymap` holds the actions with a person's own keys.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import chain, product

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from roamtui.errors import format_nearest_name


class Scope(StrEnum):
    """A group of actions, and the part of the app where they work. GLOBAL, MOVE and SECTION span several."""

    GLOBAL = "global"
    MOVE = "move"
    TREE = "tree"
    SECTION = "section"
    CHAT = "chat"
    READER = "reader"
    INPUT = "input"
    SAVED = "saved"
    TABLE = "table"
    START = "start"
    HELP = "help"
    """The list of commands and keys, which has no actions of its own."""


SCOPE_TITLES = {
    Scope.GLOBAL: "Everywhere in a document",
    Scope.MOVE: "Panes and lists",
    Scope.INPUT: "Question box",
    Scope.TREE: "Outline",
    Scope.SECTION: "Section in outline or reader",
    Scope.CHAT: "Conversation",
    Scope.READER: "Reader",
    Scope.SAVED: "Conversations, notes",
    Scope.TABLE: "Table",
    Scope.START: "Open a document",
}
"""Names of the scopes on the screen, in the order of the help screen."""
_OUTSIDE_BOX = "Outside the question box"
PANES = (Scope.TREE, Scope.CHAT, Scope.READER)
"""The panes of a document, from left to right."""
SECTION_PANES = (Scope.TREE, Scope.READER)
"""The panes whose letter keys open and close sections. In the conversation, no letter does that."""
DOCUMENT_PARTS = (*PANES, Scope.INPUT)
"""The parts of the screen of a document."""
_SCOPE_PARTS: Mapping[Scope, Iterable[Scope]] = {
    Scope.GLOBAL: DOCUMENT_PARTS,
    Scope.MOVE: (*PANES, Scope.SAVED, Scope.TABLE),
    Scope.SECTION: SECTION_PANES,
}
"""The parts of the app where the actions of a scope work, if several."""
_FURTHER_PARTS: Mapping[str, Iterable[Scope]] = {
    "global.choose_theme": (Scope.START, Scope.TABLE),
    "global.close_document": (Scope.TABLE,),
    "global.conversations": (Scope.START,),
    "global.copy_or_cancel": (Scope.TABLE,),
    "global.help": (Scope.START, Scope.TABLE, Scope.HELP),
    "global.next_document": (Scope.TABLE,),
    "global.open_document": (Scope.TABLE,),
    "global.quit": Scope,
    "global.suspend": Scope,
    "chat.retry": DOCUMENT_PARTS,
    "chat.select_quote": DOCUMENT_PARTS,
}
"""By action id: the parts of the app where it works too."""


class Action(Struct, frozen=True):
    """An action that a person can run."""

    id: str
    """Scope, dot, verb. The configuration uses it to rebind keys."""
    keys: tuple[str, ...]
    """Textual's names of the keys. Hints show the first one."""
    label: str
    """One or two words for hints, or empty if there is no hint."""
    help: str
    call: str
    """Textual's action string: a method of the widget that owns the scope, or of `screen` or `app`."""
    is_hinted: bool = False
    runs_from_help: bool = True
    """Whether the list of commands runs it. False for actions that need the focus, such as moving."""
    is_priority: bool = False
    """Whether the action runs before the focused widget handles the key. Its keys must not print."""

    @property
    def scope(self) -> Scope:
        """The group that the action belongs to."""
        return Scope(self.id.partition(".")[0])

    @property
    def works_in(self) -> frozenset[Scope]:
        """The parts of the app where its keys work."""
        own = _SCOPE_PARTS.get(self.scope, (self.scope,))
        return frozenset((*own, *_FURTHER_PARTS.get(self.id, ())))

    @property
    def place(self) -> str:
        """Where its keys work, in words for the screen. In the question box, a letter of GLOBAL is text."""
        is_letter = bool(self.keys) and not self.works_while_typing
        return _OUTSIDE_BOX if self.scope is Scope.GLOBAL and is_letter else SCOPE_TITLES[self.scope]

    @property
    def key_names(self) -> tuple[str, ...]:
        """Its keys for the screen, as a range if they are `DIGITS`."""
        return ("1-9",) if self.keys == DIGITS else tuple(_KEY_NAMES.get(key, key) for key in self.keys)

    @property
    def works_while_typing(self) -> bool:
        """Whether one of its keys prints nothing, so that a text field leaves it to the action."""
        return not all(map(_is_printable, self.keys))


DIGITS = tuple("123456789")
"""Keys that select a quote by its number."""


def _row(verb: str, keys: str, label: str, sentence: str, call: str = "{}", **flags: bool) -> Action:
    """Make an action. `ACTIONS` adds the scope to its id. `verb` replaces the braces in `call`."""
    return Action(verb, tuple(keys.split()), label, sentence, call.format(verb), **flags)


_hinted = partial(_row, is_hinted=True)
_by_key = partial(_row, runs_from_help=False)
_in_app = partial(_row, call="app.{}")
_on_section = partial(_row, call="screen.apply('{}')")
_priority = partial(_row, runs_from_help=False, is_priority=True)
"""An action that gets its key before the focused widget does. The list of commands cannot run it."""
_ROWS: Mapping[Scope, Sequence[Action]] = {
    Scope.GLOBAL: (
        _priority("next_pane", "tab", "next pane", "Go to the next pane.", "step_pane(1)"),
        _priority("previous_pane", "shift+tab", "previous pane", "Go to the previous pane.", "step_pane(-1)"),
        _priority(
            "back",
            "escape",
            "back",
            "Go back one step. In an empty question box, stop the answer.",
            "step_out",
        ),
        _priority(
            "copy_or_cancel",
            "ctrl+c",
            "copy or stop",
            "Copy the selection, or stop the answer. In the question box, clear it.",
        ),
        _row("new_conversation", "ctrl+n", "new conversation", "Start a conversation; this one is saved."),
        _row("conversations", "f4", "conversations", "List, resume, rename, delete or export conversations."),
        _row("choose_model", "f2", "model", "Choose the model that answers."),
        _row(
            "find", "ctrl+f /", "find", "Search the document. In an empty question box, “/” lists commands."
        ),
        _row("notes", "f6", "notes", "List your notes on this document."),
        _row("table", "ctrl+l", "table", "Ask questions about each document, in a table.", "app.open_table"),
        _in_app("open_document", "ctrl+o", "open", "Open another document."),
        _row("add_source", "", "add source", "Add a file, folder or site to this conversation."),
        _row("remove_source", "", "remove source", "Take out the added source of the selected section."),
        _in_app("next_document", "ctrl+t", "next document", "Go to the next open document or table."),
        _in_app("close_document", "ctrl+w", "close document", "Close the document, or delete a typed word."),
        _row(
            "next_match",
            "n",
            "next match",
            "Go to the next match of the search. “n” is text in the conversation.",
            "step_match(1)",
        ),
        _row(
            "previous_match",
            "N",
            "previous match",
            "Go to the previous match. “N” is text in the conversation.",
            "step_match(-1)",
        ),
        _row("go_question", "q", "ask", "Go to the question box from outline or reader.", "go('input')"),
        _row("go_tree", "", "outline", "Go to the outline.", "go('tree')"),
        _row("go_chat", "", "conversation", "Go to the conversation.", "go('chat')"),
        _row("go_reader", "", "reader", "Go to the reader.", "go('reader')"),
        _row("go_page", "ctrl+g", "go to page", "Go to a page of a document that has pages, such as a PDF."),
        _row("reload", "f5", "reload", "Reload the document from disk; open sections stay open."),
        _in_app("choose_theme", "f3", "theme", "Choose a theme, dark or light."),
        _hinted(
            "help",
            "f1 ? ctrl+p",
            "keys",
            "List commands, keys, and what the signs mean. In the question box, “?” is text.",
            "app.help",
        ),
        _row("suspend", "ctrl+z", "suspend", "Go to the shell, or undo typing.", "app.suspend_process"),
        _in_app("quit", "ctrl+q", "quit", "Quit or exit roamtui.", is_hinted=True, is_priority=True),
    ),
    Scope.MOVE: (
        _by_key("down", "j down", "", "Move down.", "move(1)"),
        _by_key("up", "k up", "", "Move up.", "move(-1)"),
        _by_key("page_down", "pagedown ctrl+d", "", "Move down by a page.", "page(1)"),
        _by_key("page_up", "pageup ctrl+u", "", "Move up by a page.", "page(-1)"),
        _by_key("first", "home g", "", "Go to the beginning. “g” is text in the conversation."),
        _by_key("last", "end G", "", "Go to the end. “G” is text in the conversation."),
        _by_key(
            "right",
            "l right",
            "",
            "Move right, or unfold the section. “l” is text in the conversation.",
            "move_sideways(1)",
        ),
        _by_key(
            "left",
            "h left",
            "",
            "Move left, or fold the section. “h” is text in the conversation.",
            "move_sideways(-1)",
        ),
    ),
    Scope.INPUT: (
        _priority("send", "enter", "send", "Ask the question.", is_hinted=True),
        _by_key("page_down", "pagedown", "", "Move the pane above down.", "screen.scroll_page(1)"),
        _by_key("page_up", "pageup", "", "Move the pane above up.", "screen.scroll_page(-1)"),
        _priority("insert_line", "ctrl+j shift+enter", "new line", "Insert a line break.", is_hinted=True),
    ),
    Scope.TREE: (
        _hinted("fold", "space", "fold", "Fold or unfold the section."),
        _hinted("read", "enter", "read", "Show the section in the reader. The second time, go there."),
        _on_section("unfold_all", "", "unfold all", "Unfold everything below the section."),
    ),
    Scope.SECTION: (
        _on_section("open", "a", "open", "Open the section: the model gets its text.", is_hinted=True),
        _on_section("close", "x", "close", "Close the section for the model.", is_hinted=True),
        _on_section("pin", "p", "pin", "Pin the section: the model cannot close it.", is_hinted=True),
        _hinted("note", "b", "note", "Add a note on the selection, quote or section.", "screen.add_note"),
        _row("ask", "i", "ask about", "Ask about the selection or this section only.", "screen.ask_about"),
    ),
    Scope.CHAT: (
        _by_key("show_target", "enter", "show", "Show the selected section and its quote.", is_hinted=True),
        _by_key(
            "select_quote",
            " ".join(DIGITS),
            "quote",
            "In any pane: select a quote of the answer by its number.",
            "screen.select_quote",
            is_hinted=True,
        ),
        _hinted("toggle_steps", "space", "fold", "Fold or unfold passages or steps."),
        _hinted("copy", "y", "copy", "Copy the selected quote or passage, or the last answer, with sources."),
        _by_key("note", "b", "note", "Add a note on the selected quote, passage or section."),
        _hinted(
            "retry", "ctrl+r", "ask again", "Put the question into the box, to ask it again.", "screen.retry"
        ),
        _row("next_answer", "]", "next answer", "Go to the next answer to the question.", "step_answer(1)"),
        _row("previous_answer", "[", "before", "Go to the answer before this one.", "step_answer(-1)"),
        _row("export", "", "export", "Export this conversation in several formats."),
    ),
    Scope.READER: (
        _hinted("next_section", "]", "next section", "Go to the next section.", "step_section(1)"),
        _hinted("previous_section", "[", "before", "Go to the previous section.", "step_section(-1)"),
        _hinted("follow", "o enter", "links", "Show where a link leads: type the number at the link."),
        _row("look", "v", "look", "Open the picture in view, or the PDF, in another program."),
        _hinted("back", "backspace", "back", "Go back, even to another document or a table."),
        _hinted("copy", "y", "copy", "Copy the selection, or the whole section, with its source."),
        _hinted("edit", "e", "edit", "Edit the file in $EDITOR at this section."),
    ),
    Scope.SAVED: (
        _by_key("choose", "enter", "choose", "Show the conversation, or what the note is on."),
        _by_key("edit", "e", "edit", "Edit the title of the conversation, or your comment."),
        _by_key("delete", "d delete", "delete", "Delete the conversation or note. The app asks first."),
        _by_key("export", "w", "export", "Export the conversation, or all notes."),
        _by_key("search", "/", "search", "Search titles, questions and answers, or your notes."),
    ),
    Scope.TABLE: (
        _by_key("read", "enter", "quote", "Show the quote of the cell in its document."),
        _by_key("add_column", "+", "question", "Add a column by typing its question, and ask it."),
        _by_key("delete_column", "d delete", "delete", "Delete the column. The app asks first."),
        _by_key("run", "r", "run", "Ask the questions that failed, changed or have no answer yet."),
        _by_key("export", "w", "export", "Export the table as CSV, Markdown or JSON."),
    ),
    Scope.START: (_priority("complete", "tab", "complete", "Complete the path."),),
}
ACTIONS = tuple(replace(row, id=f"{scope}.{row.id}") for scope, rows in _ROWS.items() for row in rows)


_KEY_NAMES = {
    "escape": "esc",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


_OWN = ".own"
"""Each action has a second binding, for a person's own keys. Its id ends in this."""
_NO_KEY = "unbound"
"""The key of a binding that has no key. No terminal sends it."""
# Textual names that key "enter"
_NAMED_KEYS = frozenset(key.value for key in Keys if key.value.isalnum()) - {"return"}
_MODIFIERS = frozenset(("ctrl", "alt", "shift", "super", "hyper", "meta"))


class Keymap(Struct, frozen=True):
    """The actions with their current keys."""

    actions: Mapping[str, Action]
    """By id."""
    conflicts: tuple[str, ...]
    """One sentence for each action that could not be rebound or lost a key."""
    first_keys: Mapping[str, str]
    """By action id: the name of its first key for the screen, or a dash if it has no key."""

    def iter_actions(self, scope: Scope) -> Iterator[Action]:
        """Yield the actions of a scope."""
        return (action for action in self.actions.values() if action.scope is scope)

    @property
    def chat_keys(self) -> frozenset[str]:
        """The keys that act in the conversation. A letter that is not among them begins a question there."""
        lines = (self.actions["move.down"], self.actions["move.up"])
        return frozenset(key for action in (*self.iter_actions(Scope.CHAT), *lines) for key in action.keys)

    def get_bound(self, action_ids: Iterable[str]) -> list[Action]:
        """Return the actions with these ids, except those that have no key."""
        return [self.actions[action_id] for action_id in action_ids if self.actions[action_id].keys]

    @property
    def textual_keymap(self) -> dict[str, str]:
        """Textual's keymap of the actions whose keys differ from the defaults."""
        keymap: dict[str, str] = {}
        for action, default in zip(self.actions.values(), ACTIONS, strict=True):
            if action.keys != default.keys:
                keys = ["comma" if key == "," else key for key in action.keys]
                keymap |= {action.id: _NO_KEY, action.id + _OWN: ",".join(keys) or _NO_KEY}
        return keymap


def make_bindings(*scopes: Scope, works_in: Iterable[Scope] = ()) -> list[BindingType]:
    """Make bindings for those actions of `scopes` that work in every part in `works_in`."""
    working = [each for each in ACTIONS if each.scope in scopes and each.works_in.issuperset(works_in)]
    return list(chain.from_iterable(_bind(action, action.call) for action in working))


def make_refusals(part: Scope) -> list[BindingType]:
    """Make bindings for the keys that act in a document, but not in `part`. They say so to the person."""
    idle = [each for each in ACTIONS if each.scope is Scope.GLOBAL and part not in each.works_in]
    return list(chain.from_iterable(_bind(each, "app.refuse") for each in idle if each.runs_from_help))


def _bind(action: Action, call: str) -> Iterator[BindingType]:
    """Yield the bindings of an action. In a text field, Textual drops the first one if its key prints."""
    keys = ",".join(action.keys) or _NO_KEY
    for key, id_ in ((keys, action.id), (_NO_KEY, action.id + _OWN)):
        yield Binding(key, call, show=False, priority=action.is_priority, id=id_)


def make_keymap(overrides: Mapping[str, str] | None = None) -> Keymap:
    """Apply a person's own keys, by action id. Other actions that work in the same place lose these keys."""
    actions = {action.id: action for action in ACTIONS}
    problems = []
    rebound_ids = []
    for action_id, key in (overrides or {}).items():
        action = actions.get(action_id)
        stays = f'The keys of "{action_id}" stay as they were, because'
        if action is None:
            hint = format_nearest_name(action_id, actions) or " The page docs/keys.md of roamtui lists them."
            problems.append(f'There is no action "{action_id}", so its keys were ignored.{hint}')
        elif key and not _is_key(key):
            problems.append(f'{stays} there is no key "{key}".{format_nearest_name(key, _NAMED_KEYS)}')
        elif action.is_priority and _is_printable(key):
            problems.append(f'{stays} "{key}" is needed for typing in the text field.')
        elif key == "escape" and key not in action.keys:
            problems.append(f'{stays} "{key}" is needed for going back.')
        else:
            actions[action_id] = replace(action, keys=(key,) if key else ())
            rebound_ids.append(action_id)
    for action_id in reversed(rebound_ids):  # of several with the same key, the last one gets it
        action = actions[action_id]
        for key, other in product(action.keys, tuple(actions.values())):
            overlaps = not action.works_in.isdisjoint(other.works_in)
            if other is not action and key in other.keys and overlaps:
                actions[other.id] = replace(other, keys=tuple(each for each in other.keys if each != key))
                problems.append(f'"{action_id}" now uses "{key}", so "{other.id}" no longer does.')
    first_keys = {action.id: next(iter(action.key_names), "–") for action in actions.values()}
    return Keymap(actions, tuple(problems), first_keys)


def _is_key(key: str) -> bool:
    """Return whether a terminal may send a key: a character or a named key, after any modifiers."""
    *modifiers, name = re.split(r"\+(?=.)", key)
    return _MODIFIERS.issuperset(modifiers) and (_is_printable(name) or name in _NAMED_KEYS)


def _is_printable(key: str) -> bool:
    character = key if len(key) == 1 else key_to_character(key)
    return key in KEY_NAME_REPLACEMENTS.values() or (character is not None and character.isprintable())
