"""Render the outline around search hits: their siblings and subsections, in more detail than at the start."""

from collections.abc import Container, Sequence

from roamtui.document.library import Library
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.outline.labels import format_node_title, format_size
from roamtui.outline.structure import list_outline_children, list_roots
from roamtui.text import estimate_tokens

_TITLE_LENGTH_MAX = 40
_NEIGHBOURS_MAX = 3
"""Maximum number of neighbours that are named for each hit."""
_NEAR_MAX = 8
"""Maximum number of siblings to consider on each side, and of children."""
_HEAD = "Near them, with sizes in tokens:"


def render_neighbourhood(
    library: Library, section_ids: Sequence[str], tokens_max: int, *, known: Container[str] = ()
) -> str:
    """Render the neighbours of sections, in the order of the sections, in at most `tokens_max` tokens.

    Neighbours that are `known`, because the outline or another list names them, are left out.
    """
    lines: list[str] = []
    left = tokens_max - estimate_tokens(_HEAD)
    named = {library.root_id, *section_ids}
    for parent_id, all_near in _list_near(library, section_ids).items():
        near_ids = [near_id for near_id in all_near if near_id not in known]
        if not near_ids:
            continue
        parent = "" if parent_id == library.root_id else f"{_refer(library, parent_id, named)}: "
        line = f"- {parent}{'; '.join(_refer(library, near_id, named) for near_id in near_ids)}"
        cost = estimate_tokens(line) + 1
        if cost <= left:
            lines.append(line)
            left -= cost
            named.update((parent_id, *near_ids))
    return "\n".join([_HEAD, *lines]) if lines else ""


def _list_near(library: Library, section_ids: Sequence[str]) -> dict[str, list[str]]:
    """List the children and siblings of some sections, each once, by the section above it."""
    near_ids: dict[str, list[str]] = {}
    seen = {*section_ids}
    for section_id in section_ids:
        parent_id = library.node(section_id).parent or library.root_id
        is_top = parent_id == library.root_id
        siblings = list_roots(library) if is_top else list_outline_children(library, parent_id)
        at = siblings.index(section_id) if section_id in siblings else 0
        is_whole = library.count_tokens(section_id)[1] <= WHOLE_TOKENS_MAX  # opening it gives all below it
        below = [] if is_whole else list_outline_children(library, section_id)[:_NEAR_MAX]
        near_siblings = (*siblings[at + 1 : at + _NEAR_MAX], *reversed(siblings[max(0, at - _NEAR_MAX) : at]))
        count = 0
        for above_id, candidates in ((section_id, below), (parent_id, near_siblings)):
            for near_id in candidates:
                if count < _NEIGHBOURS_MAX and near_id not in seen:
                    seen.add(near_id)
                    near_ids.setdefault(above_id, []).append(near_id)
                    count += 1
    return near_ids


def _refer(library: Library, section_id: str, named: Container[str]) -> str:
    """Name a section, with its id and size unless the reader has them already."""
    title = format_node_title(library.node(section_id), length_max=_TITLE_LENGTH_MAX)
    return title if section_id in named else f"[{section_id}] {title} ({format_size(library, section_id)})"
