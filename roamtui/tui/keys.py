"""Keys in force: the table of actions with what a person rebound, and the bindings made from it."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace

from textual.binding import Binding, BindingType
from textual.keys import KEY_NAME_REPLACEMENTS, key_to_character
from textual.keys import Keys as TerminalKeys

from roamtui.tui.actions import ACTIONS, SCREEN_SCOPES, Action, Scope, show_key

_NO_KEY = "unbound"
"""No terminal sends such a key; an action without any key is bound to it."""
_TELLING_TERMINALS = (
    frozenset({"ghostty", "iterm.app", "kitty", "rio"}),
    frozenset({"xterm-kitty", "xterm-ghostty", "foot", "foot-extra", "alacritty", "rio"}),
)
"""By their names in TERM_PROGRAM and TERM: those that speak kitty's protocol for keys unasked or when asked."""
_RENAMED = {"find.change_side": "find.next_kind"}
"""Actions by the names that they had, which stand in some people's settings."""
_MODIFIERS = frozenset({"ctrl", "shift", "alt", "meta", "super", "hyper"})
_NAMED_KEYS = frozenset(key.value.rpartition("+")[2] for key in TerminalKeys) | set(KEY_NAME_REPLACEMENTS.values())


@dataclass(frozen=True, slots=True)
class Keys:
    """The actions with the keys that they have now."""

    actions: tuple[Action, ...]
    problems: tuple[str, ...] = ()
    """What could not be rebound, or lost its key, one sentence each."""

    def within(self, scope: Scope) -> Iterator[Action]:
        """Yield the actions of a scope."""
        return (action for action in self.actions if action.scope is scope)

    @property
    def keymap(self) -> dict[str, str]:
        """The keys of actions that do not have their own, as Textual takes them."""
        defaults = {action.id: set(action.keys) for action in ACTIONS}
        changed = (action for action in self.actions if set(action.keys) != defaults[action.id])
        return {action.id: ",".join(action.keys) or _NO_KEY for action in changed}

    def show_first(self, action_id: str) -> str:
        """Return the first key of an action as it is written on the screen, a dash where it has none."""
        action = next(action for action in self.actions if action.id == action_id)
        return show_key(action.keys[0]) if action.keys else "–"


def can_send_shift_enter(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is one that tells `shift+enter` from `enter`, as far as the environment says."""
    if "web_driver" in environ.get("TEXTUAL_DRIVER", "") or environ.get("TMUX") or environ.get("STY"):
        return False
    named = (environ.get("TERM_PROGRAM", ""), environ.get("TERM", ""))
    return any(name.casefold() in known for name, known in zip(named, _TELLING_TERMINALS, strict=True))


def bind(scope: Scope, *, only: Container[str] | None = None) -> list[BindingType]:
    """Return the bindings of the widget that owns a scope, with the keys of the table; the app's keymap changes them.

    Args:
        scope: Where they work.
        only: The ids of the actions to bind, None for all of the scope.
    """
    return [
        Binding(
            ",".join(action.keys),
            action.method,
            action.label,
            show=False,
            priority=action.is_priority,
            tooltip=action.help,
            id=action.id,
        )
        for action in ACTIONS
        if action.scope is scope and (only is None or action.id in only)
    ]


def build_keys(overrides: Mapping[str, tuple[str, ...]] | None = None) -> Keys:
    """Return the table of actions with a person's own keys.

    Args:
        overrides: Keys by action id. A key that another action of the same scope had goes to the new one, and that
            is told.
    """
    actions = {action.id: action for action in ACTIONS}
    problems = []
    if not can_send_shift_enter(os.environ):
        new_line = actions["input.insert_line"]
        actions[new_line.id] = replace(new_line, keys=new_line.keys[::-1])  # the one that works is the one to show
    for named, keys in (overrides or {}).items():
        action_id = _RENAMED.get(named, named)
        action = actions.get(action_id)
        if action is None:
            problems.append(f'There is no action "{action_id}" to bind a key to. Help (f1) lists the ids.')
            continue
        if unfit := [key for key in keys if not _is_key(key)]:
            problems.append(f'"{action_id}" stays as it was: there is no key {_join(set(unfit))}.')
            continue
        if action.scope is Scope.INPUT and (typed := [key for key in keys if len(key) == 1]):
            problems.append(f'"{action_id}" stays as it was: {_join(set(typed))} is typed into the question box.')
            continue
        for other in tuple(actions.values()):
            lost = set(other.keys) & set(keys)
            if other.id != action_id and lost and _can_clash(other.scope, action.scope):
                actions[other.id] = replace(other, keys=tuple(k for k in other.keys if k not in lost))
                problems.append(f'"{action_id}" takes {_join(lost)} away from "{other.id}".')
        actions[action_id] = replace(action, keys=keys)
    return Keys(tuple(actions.values()), tuple(problems))


def _is_key(key: str) -> bool:
    """Return whether a terminal can send such a key: one character, or a name, with modifiers before it."""
    *modifiers, name = key.split("+") if len(key) > 1 else [key]
    is_name = len(name) == 1 or name in _NAMED_KEYS or key_to_character(name) is not None
    return is_name and set(modifiers) <= _MODIFIERS


def _can_clash(one: Scope, other: Scope) -> bool:
    return one is other or (Scope.GLOBAL in (one, other) and not SCREEN_SCOPES & {one, other})


def _join(keys: set[str]) -> str:
    return ", ".join(f'"{key}"' for key in sorted(keys))
