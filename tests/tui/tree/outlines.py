"""Libraries and states for tests of the tree."""

from roamtui.conversation.events import OpenedSection, Origin
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library
from tests.case_files import read_case
from tests.search.libraries import id_of

HANDBOOK = read_case("staff_handbook.md")


def make_wide_library(count: int) -> Library:
    """Return a library of one top heading with `count` headings below it, without the cost of a parse."""
    rows = [NodeRow(NodeKind.SECTION, 1, "Everything", 0)]
    rows.extend(NodeRow(NodeKind.SECTION, 2, f"Part {number}", number) for number in range(1, count + 1))
    columns = make_columns(rows, count + 1)
    return Library(source="wide.md", root=Document(key="", title="Everything", text="x" * (count + 1), columns=columns))


def make_state(library: Library, *unfolded: str, opened: tuple[OpenedSection, ...] = ()) -> ConversationState:
    """Return a state; `unfolded` are titles."""
    ids = frozenset(id_of(library, title) for title in unfolded)
    sections = {section.section_id: section for section in opened}
    return ConversationState(id="c", library=library, unfolded=ids, open_sections=sections)


def open_section(library: Library, title: str, origin: Origin = Origin.AGENT, **marks: bool) -> OpenedSection:
    return OpenedSection(
        section_id=id_of(library, title),
        opened_by=origin,
        last_used=1,
        last_cited=int(marks.get("is_cited", False)),
        is_pinned=marks.get("is_pinned", False),
    )
