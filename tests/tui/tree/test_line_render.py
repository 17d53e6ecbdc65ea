from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from roamtui.conversation.commands import Origin
from roamtui.tui.tree.line_looks import LineLook
from roamtui.tui.tree.line_render import SIZE_WIDTH_MIN, Palette, render_line
from roamtui.tui.tree.visible_lines import Fold

_PALETTE = Palette(**{field.name: Style.null() for field in fields(Palette)})
_COLOURED = replace(
    _PALETTE, batch=Style.parse("on red"), cursor=Style.parse("black on white"), cursor_blurred=Style.parse("on blue")
)
_LOOK = LineLook(has_next=(True, False), fold=Fold.FOLDED, title="Vacation", size="1.2k")


def _text(look: LineLook, width: int = 40) -> str:
    return render_line(look, width, _PALETTE).text


def test_a_line_has_guides_a_triangle_a_title_and_its_size() -> None:
    assert _text(_LOOK) == "│ └ ▸ Vacation" + " " * 22 + "1.2k"


def test_the_page_stands_before_the_size_only_where_the_whole_title_has_room() -> None:
    look = replace(_LOOK, page="p. 57")
    assert _text(look) == "│ └ ▸ Vacation" + " " * 15 + "p. 57  1.2k"
    assert _text(replace(look, title="Vacation of all who")).endswith("all who    p. 57  1.2k")
    assert "p. 57" not in _text(replace(look, title="Vacation of all who work here"))
    assert "p. 57" not in _text(look, SIZE_WIDTH_MIN - 1)


@pytest.mark.parametrize(
    ("fold", "glyph"), [(Fold.UNFOLDED, "▾"), (Fold.FOLDED, "▸"), (Fold.LEAF, "·"), (Fold.UNLOADED, "⋯")]
)
def test_the_fold_is_readable_without_colour(fold: Fold, glyph: str) -> None:
    assert f"{glyph} Vacation" in _text(replace(_LOOK, fold=fold))


@pytest.mark.parametrize(
    ("look", "shown"),
    [
        (replace(_LOOK, opened_by=Origin.AGENT), "◆ Vacation "),
        (replace(_LOOK, opened_by=Origin.PERSON), "◇ Vacation "),
        (replace(_LOOK, opened_by=Origin.AGENT, is_closing=True), "◆… Vacation "),
        (replace(_LOOK, is_pinned=True, is_cited=True), "Vacation ⚑❝ "),
        (replace(_LOOK, is_reading=True), "Vacation ¶ "),
        (replace(_LOOK, fold=Fold.UNLOADED, is_failed=True), "✗ Vacation "),
        (replace(_LOOK, is_read=True), "Vacation ◦ "),
        (replace(_LOOK, open_inside=2), "Vacation (2 open) "),
        (replace(_LOOK, open_inside=2, read_inside=0.251), "Vacation (2 open, 25% read) "),
        (replace(_LOOK, read_inside=0.001), "Vacation (1% read) "),
    ],
)
def test_marks_are_readable_without_colour(look: LineLook, shown: str) -> None:
    assert shown in _text(look)
    assert not set("◆◇…⚑❝¶◦") & set(_text(_LOOK))


@given(
    st.lists(st.booleans(), max_size=40),
    st.sampled_from(Fold),
    st.text(alphabet="ab 日本é́\u200b👩‍🚀🇩🇪", max_size=30),
    st.sampled_from([None, *Origin]),
    st.integers(0, 200),
    st.integers(1, 60),
)
def test_a_line_fills_its_width_whatever_it_shows(
    has_next: list[bool], fold: Fold, title: str, origin: Origin | None, inside: int, width: int
) -> None:
    look = LineLook(
        has_next=tuple(has_next),
        fold=fold,
        title=title,
        opened_by=origin,
        is_closing=inside % 2 == 0,
        is_pinned=inside % 3 == 0,
        open_inside=inside,
        size="12k",
    )
    strip = render_line(look, width, _PALETTE)
    assert strip.cell_length == width
    assert sum(cell_len(segment.text) for segment in strip) == width


@pytest.mark.parametrize(
    ("look", "background"),
    [
        (_LOOK, None),
        (replace(_LOOK, is_new=True), "red"),
        (replace(_LOOK, is_new=True, is_cursor=True), "blue"),
        (replace(_LOOK, is_new=True, is_cursor=True, has_focus=True), "white"),
    ],
)
def test_the_background_of_a_whole_line_says_batch_or_cursor(look: LineLook, background: str | None) -> None:
    strip = render_line(look, 40, _COLOURED)
    found = {segment.style.bgcolor and segment.style.bgcolor.name for segment in strip if segment.style is not None}
    assert found == {background}
