"""An outline in lines for a person: what lies at the top or below a section, each with its id."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from roamtui.conversation.commands import Origin
from roamtui.document.plain import plain_line, plain_text
from roamtui.outline.expansion import WHOLE_TOKENS_MAX
from roamtui.outline.labels import describe_size, name_node, name_path
from roamtui.outline.nearest import find_nearest
from roamtui.outline.ranges import LISTED_MAX, Reference, find_range, list_ranges, parse_reference

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState
    from roamtui.document.library import Library

_TITLED_MAX = 10


def find_titled(library: Library, text: str) -> tuple[str, ...]:
    """Return the ids of up to ten sections with exactly this title, whatever its case."""
    wanted = plain_line(text).strip("\"'“” ").casefold()
    named = (section_id for section_id in library.walk() if library.title_of(section_id).casefold() == wanted)
    return tuple(islice(named, _TITLED_MAX)) if wanted else ()


def describe_titled(library: Library, section_ids: tuple[str, ...]) -> str:
    """Return the sections with one title, so that a person can name one by its id."""
    lines = [f"- [{section_id}] {name_path(library, section_id)}" for section_id in section_ids]
    return "\n".join(("Several sections have this title; name one by its id:", *lines))


def describe_children(state: ConversationState, text: str) -> str:
    """Return a line for each section directly below a node, in ranges where there are too many for one page.

    Args:
        state: The library that is outlined, and what of it is open.
        text: An id, a range such as ``07f3277d:c2``, a title that only one section has, or nothing for the top.
    """
    library = state.library
    title_id = library.title_id()
    reference = parse_reference(text) if text.strip() else Reference(section_id=title_id or library.root_id)
    if reference is None and (titled := find_titled(library, text)):
        if len(titled) > 1:
            return describe_titled(library, titled)
        reference = Reference(section_id=titled[0])
    if reference is None or (reference.section_id != library.root_id and reference.section_id not in library):
        return describe_unknown(library, text)
    children = library.children(reference.section_id)
    bounds = find_range(len(children), reference.steps)
    if bounds is None:
        return f"There is no range {text.strip()}."
    head = library.title if reference.section_id == library.root_id else _describe_node(state, reference.section_id)
    if not children:
        return f"{head}\nNothing lies below it."
    listed = children[slice(*bounds)]
    if len(listed) > LISTED_MAX:
        return "\n".join((head, *list_ranges(library, reference.section_id, reference.steps)))
    return "\n".join((head, *(f"- {_describe_node(state, section_id)}" for section_id in listed)))


def describe_text(library: Library, section_id: str) -> str:
    """Return the text of a section, with all below it where that is short, else with a word on what lies below."""
    node = library.node(section_id)
    if node.tokens <= WHOLE_TOKENS_MAX or not node.descendants:
        return plain_text(library.text_at(library.shown_span(section_id))).rstrip()
    count = f"{node.descendants} section{'' if node.descendants == 1 else 's'}"
    own = plain_text(library.text_at(library.shown_own_span(section_id))).rstrip()
    return f"{own}\n\n(Below it: {count}. /outline {section_id} lists them.)"


def describe_open(state: ConversationState) -> str:
    """Return a line for each open section: where it stands, who opened it, whether it is pinned."""
    if not state.open:
        return "No section is open."
    lines = []
    for section in state.open:
        marks = ["opened by you" if section.opened_by is Origin.PERSON else "opened by the model"]
        marks += ["pinned"] if section.is_pinned else []
        marks += ["the model gets its text with your next question"] if not section.deliveries else []
        lines.append(f"[{section.section_id}] {name_path(state.library, section.section_id)}, {', '.join(marks)}")
    lines.append(f"{len(lines)} open, ~{state.open_tokens:,} tokens")
    return "\n".join(lines)


def describe_unknown(library: Library, text: str) -> str:
    """Return that an id names nothing, with the sections that may have been meant."""
    nearest = [f"[{section_id}] {library.title_of(section_id)}" for section_id in find_nearest(library, text)]
    meant = f" Did you mean {', '.join(nearest)}?" if nearest else ""
    return f'There is no section "{text.strip()}".{meant}'


def _describe_node(state: ConversationState, section_id: str) -> str:
    node = state.library.node(section_id)
    found = state.find_open(section_id)
    mark = "" if found is None else ", open and pinned" if found.is_pinned else ", open"
    return f"[{section_id}] {name_node(node)} ({describe_size(node)}{mark})"
