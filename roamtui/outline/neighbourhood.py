"""Render where search hits stand in a library: the top level, and what lies beside and below each hit.

Beside hits, a model seldom opens anything from a whole outline. It can ask for that by the id of the root.
"""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.outline.labels import format_node_title, format_size
from roamtui.outline.structure import list_outline_children, list_roots, make_entry
from roamtui.text import estimate_tokens

_TITLE_LENGTH_MAX = 40
_TOP_SHARE = 0.45
"""Share of the budget for the top level."""
_BESIDE_MAX = 3
"""Maximum number of neighbours that are named for each hit."""
_NEAR_MAX = 8
"""Maximum number of neighbours that are looked at on each side."""
_HEAD = 'Outline near them, with sizes in tokens ("[{root}]" opens all of it):'


def render_neighbourhood(library: Library, section_ids: Sequence[str], tokens_max: int) -> str:
    """Return what is near some sections, best first, in at most `tokens_max` tokens; empty if none fits."""
    head = _HEAD.format(root=library.root_id)
    top = _join(_list_top(library), int(_TOP_SHARE * tokens_max) - estimate_tokens(head))
    lines = [head, *([f"- Top level: {top}"] if top else [])]
    left = tokens_max - sum(map(estimate_tokens, lines))
    named = {*section_ids}
    for section_id in section_ids:
        parent_id = library.node(section_id).parent or library.root_id
        siblings = (
            list_outline_children(library, parent_id) if parent_id != library.root_id else list_roots(library)
        )
        at = siblings.index(section_id) if section_id in siblings else 0
        beside = (*siblings[at + 1 : at + _NEAR_MAX], *reversed(siblings[max(0, at - _NEAR_MAX) : at]))
        below = list_outline_children(library, section_id)[:_NEAR_MAX]
        shown = [near_id for near_id in (*below, *beside) if near_id not in named][:_BESIDE_MAX]
        named.update(shown)
        parent = "" if parent_id == library.root_id else f"[{parent_id}] {_name(library, parent_id)}: "
        line = f"- {parent}{'; '.join(f'[{near_id}] {_name(library, near_id)}' for near_id in shown)}"
        cost = estimate_tokens(line) + 1
        if shown and cost <= left:
            lines.append(line)
            left -= cost
    return "\n".join(lines) if len(lines) > 1 else ""


def _list_top(library: Library) -> list[str]:
    entries = (make_entry(library, section_id) for section_id in list_roots(library))
    return [_name(library, entry.section_id) for entry in entries if entry is not None]


def _name(library: Library, section_id: str) -> str:
    title = format_node_title(library.node(section_id), length_max=_TITLE_LENGTH_MAX)
    return f"{title} ({format_size(library, section_id)})"


def _join(names: Sequence[str], tokens_max: int) -> str:
    """Join as many names as fit, and say how many are left out."""
    for count in range(len(names), 0, -1):
        rest = f"; +{len(names) - count}" if count < len(names) else ""
        text = f"{'; '.join(names[:count])}{rest}"
        if estimate_tokens(text) <= tokens_max:
            return text
    return ""
