"""The visible lines of the outline under any folding, and how each is drawn."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len

from roamtui.conversation.events import Origin
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.tree.outline_tree import OutlineTree
from roamtui.tui.tree.visible_lines import VisibleLines
from tests.search.libraries import id_of, make_library
from tests.tui.tree.outlines import HANDBOOK, make_state, open_section

_LIBRARY = make_library(HANDBOOK)


def _text(state: ConversationState, line: int, width: int = 40, found: frozenset[str] = frozenset()) -> str:
    tree = OutlineTree(state)
    tree.mark(found)
    return tree.draw_line(line, width).plain


def test_an_opening_text_of_only_white_space_is_left_out_and_a_graft_is_unfolded_like_a_section() -> None:
    for opening, shown in (("\n", ["Top"]), ("Words.\n\n", ["", "Top"])):
        library = make_library(f"{opening}# Top\n\n# Host\n")
        host = id_of(library, "Host")
        grown = library.graft_all({host: parse_document("# One\n\n# Two\n", key="g")})
        for unfolded, below in ((frozenset[str](), []), (frozenset({host}), ["One", "Two"])):
            lines = VisibleLines(grown, unfolded)
            assert [grown.node(section_id).title for section_id in lines.ids] == [*shown, "Host", *below]
            assert lines.id_at(lines.find_line(id_of(grown, "Two"))) == (id_of(grown, "Two") if below else host)


def test_a_folded_line_carries_the_marks_of_what_it_hides() -> None:
    length, passwords = id_of(_LIBRARY, "Length"), id_of(_LIBRARY, "Passwords")
    found = frozenset({length, passwords})
    for unfolded, lines in (
        ((), ["├ ▸ Leave", "├ ▸ Security ❝¶⌕2"]),
        (("Security",), ["├ ▸ Leave", "├ ▾ Security", "│ └ ▸ Passwords ❝¶⌕2"]),
        (("Security", "Passwords"), ["├ ▸ Leave", "├ ▾ Security", "│ └ ▾ Passwords ❝⌕", "│   └ · Length ¶⌕"]),
    ):
        state = replace(make_state(_LIBRARY, *unfolded), cited=frozenset({passwords}), reading_id=length)
        assert [_text(state, line, found=found).rstrip() for line in range(1, len(lines) + 1)] == lines


def test_marks_are_readable_without_colour() -> None:
    vacation, security = id_of(_LIBRARY, "Vacation"), id_of(_LIBRARY, "Security")
    opened = (open_section(_LIBRARY, "Passwords"), open_section(_LIBRARY, "Travel", Origin.PERSON, is_pinned=True))
    state = make_state(_LIBRARY, "Security", opened=opened)
    lines = [_text(state, line, found=frozenset({vacation, security})) for line in range(5)]
    shown = ["▾ Handbook", "├ ▸ Leave", "├ ▾ Security ⌕", "│ └ ▸ ◆ Passwords", "└ · ◆ Travel ⚑"]
    assert [line[: len(start)] for line, start in zip(lines, shown, strict=True)] == shown


def test_only_open_sections_have_the_mark_and_a_folded_line_counts_those_below_it() -> None:
    leave, security = (_LIBRARY.node(id_of(_LIBRARY, title)) for title in ("Leave", "Security"))
    opened = (
        replace(open_section(_LIBRARY, "Leave"), deliveries=(leave.own_span,)),
        replace(open_section(_LIBRARY, "Security"), deliveries=(security.span,)),
    )
    state = make_state(_LIBRARY, "Leave", "Security", "Passwords", opened=opened)
    lines = [_text(state, line).rstrip() for line in range(8)]
    assert lines == [
        "▾ Handbook", "├ ▾ ◆ Leave", "│ ├ · Vacation", "│ └ · Sick leave",
        "├ ▾ ◆ Security", "│ └ ▾ Passwords", "│   └ · Length", "└ · Travel",
    ]  # fmt: skip
    titles = ("Passwords", "Length", "Leave")
    state = make_state(_LIBRARY, opened=tuple(open_section(_LIBRARY, title) for title in titles))
    lines = [_text(state, line).rstrip() for line in range(4)]
    assert lines == ["▾ Handbook", "├ ▸ ◆ Leave", "├ ▸ Security ◆2", "└ · Travel"]


def test_a_title_that_is_only_a_number_is_followed_by_the_first_words_of_its_text() -> None:
    state = make_state(
        make_library("# Lease\n\n## 2.1\n\nThe **rent** is due on Mondays at noon.\n\n## 2.2\n\n### 2.2.1\n")
    )
    lines = [_text(state, line, width=30).rstrip() for line in (1, 2)]
    assert lines == ["├ · 2.1 The rent is due on Mo…", "└ ▸ 2.2 2.2.1"]


@given(st.lists(st.text(alphabet="ab 日本é́", max_size=30), min_size=1, max_size=20), st.data(), st.integers(1, 60))
def test_a_line_fills_its_width_whatever_it_shows(titles: list[str], data: st.DataObject, width: int) -> None:
    rows = [
        NodeRow(NodeKind.SECTION, data.draw(st.integers(1, 20)), title, number) for number, title in enumerate(titles)
    ]
    library = Library(source="a", root=Document(key="", title="", text="x" * 20, columns=make_columns(rows, 20)))
    opened = tuple(
        replace(open_section(_LIBRARY, "Leave", data.draw(st.sampled_from(Origin)), is_pinned=True), section_id=one)
        for one in data.draw(st.sets(st.sampled_from(library.root.ids)))
    )
    unfolded = data.draw(st.frozensets(st.sampled_from(library.root.ids)))
    state = replace(make_state(library, opened=opened), unfolded=unfolded)
    tree = OutlineTree(state)
    for line in range(len(tree.lines.ids)):
        assert cell_len(tree.draw_line(line, width).plain) == width
