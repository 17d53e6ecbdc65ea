"""Pictures of the main screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.models.registry import NoModel
from roamtui.paths import get_resource_dir
from tests.sources.convert.sample_pdf import lay_out, make_pdf
from tests.sources.sample_pictures import make_png
from tests.tui.picturing import (
    DIALECTS,
    LARGE,
    NARROW,
    USUAL,
    WIDE,
    Compare,
    make_reading_app,
    make_searching_app,
    make_still_app,
    name_size,
    press,
    show_answer,
    show_dialects,
    show_focus_mode,
    show_look,
    show_passages,
    show_picture,
    show_source,
    show_start,
)

_AT_EACH_LAYOUT = pytest.mark.parametrize("size", [WIDE, USUAL, NARROW], ids=name_size)
BUNDLED = sorted(file.stem for file in get_resource_dir("themes").glob("*.toml"))


@_AT_EACH_LAYOUT
class TestStart:
    """The first screen teaches: what this is, three keys, questions to try, the model."""

    def test_start(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=show_start)

    def test_outline(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        keys = press("escape", "tree.unfold_all", "j", "a", "j", "p", "j")
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=keys)


@_AT_EACH_LAYOUT
class TestAnswer:
    """An answer shows what was done for it, its sources, and what is open."""

    def test_answer(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=show_answer)


@pytest.mark.parametrize("size", [WIDE, LARGE, NARROW], ids=name_size)
class TestReader:
    """A source is shown with its quote marked: beside the conversation where there is room, else in its place."""

    def test_source(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        assert snap_compare(make_still_app("dusk"), terminal_size=size, run_before=show_source)

    def test_dialects(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        app = make_still_app("dusk", text=DIALECTS)
        assert snap_compare(app, terminal_size=size, run_before=show_dialects)


@pytest.mark.parametrize("size", [LARGE, NARROW], ids=name_size)
class TestStaying:
    """Focus mode is one column of text."""

    def test_focus_mode(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        app = make_still_app("dusk", text=DIALECTS)
        assert snap_compare(app, terminal_size=size, run_before=show_focus_mode)


@_AT_EACH_LAYOUT
class TestPicture:
    """A picture is drawn above its words, and a page of a PDF on the whole screen."""

    def test_picture(self, snap_compare: Compare, size: tuple[int, int], tmp_path: Path) -> None:
        pytest.importorskip("PIL")
        app = make_reading_app("dusk", _write_guide(tmp_path))
        assert snap_compare(app, terminal_size=size, run_before=show_picture)

    def test_page(self, snap_compare: Compare, size: tuple[int, int], tmp_path: Path) -> None:
        (tmp_path / "boats.pdf").write_bytes(make_pdf([lay_out("# Boats", "", "A boat floats.")]))
        app = make_reading_app("dusk", tmp_path / "boats.pdf")
        assert snap_compare(app, terminal_size=size, run_before=show_look)


def _write_guide(folder: Path) -> Path:
    stripes = [(200, 60, 50), (240, 200, 80), (60, 160, 90), (50, 110, 190)]
    (folder / "stripes.png").write_bytes(make_png(160, 128, *stripes))
    (folder / "guide.md").write_text("# Guide\n\nFour colours:\n\n![Four stripes](stripes.png)\n\nAnd more words.\n")
    return folder / "guide.md"


@_AT_EACH_LAYOUT
class TestPassages:
    """The offline model answers with cards. Keys of the selected one are in the last line."""

    def test_passages(self, snap_compare: Compare, size: tuple[int, int]) -> None:
        app = make_searching_app("dusk", NoModel())
        assert snap_compare(app, terminal_size=size, run_before=show_passages)


@pytest.mark.parametrize("theme", BUNDLED)
class TestThemes:
    """Every bundled theme shows all that the main screen has."""

    def test_theme(self, snap_compare: Compare, theme: str) -> None:
        assert snap_compare(make_still_app(theme), terminal_size=WIDE, run_before=show_source)
