import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.markdown.blocks import Link
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from roamtui.text import Span
from roamtui.tui.reader.lazy_lines import HighlightKind
from roamtui.tui.reader.reader import Reader
from tests.case_files import read_case
from tests.search.libraries import id_of, make_library
from tests.tui.driving import wait_until
from tests.tui.reader.sections import ReaderApp, list_lines, list_marked

_TEXT = read_case("handbook_with_front_matter.md")
_LIBRARY = make_library(_TEXT)
_BOOK = "# Book\n\n" + "".join(
    f"## Chapter {number}\n\n" + f"Sentence {number} is here and is long enough to be wrapped. " * 12 + "\n\n"
    for number in range(400)
)


class FollowingReader(Reader):
    """Remembers the links that were followed."""

    followed: tuple[str, ...] = ()

    @override
    def follow(self, link: Link) -> None:
        self.followed += (link.href,)


@asynccontextmanager
async def _run(
    library: Library | None = None, title: str = "", *, size: tuple[int, int] = (54, 14)
) -> AsyncIterator[tuple[ReaderApp, FollowingReader, Pilot[None]]]:
    reader = FollowingReader()
    reader.styles.width, reader.styles.height = 50, 12
    app = ReaderApp(reader)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.pause()
        if library is not None:
            reader.show_section(library, id_of(library, title) if title else next(library.walk()))
            await pilot.pause()
        app.heard.clear()
        yield app, reader, pilot


async def test_a_section_is_shown_although_its_place_was_asked_for_before_its_first_layout() -> None:
    app = ReaderApp(FollowingReader())
    async with app.run_test(size=(54, 14)) as pilot:
        await pilot.pause()
        reader = Reader()
        reader.styles.width, reader.styles.height = 50, 12
        app.screen.mount(reader, before=0)
        reader.show_section(_LIBRARY, id_of(_LIBRARY, "Leave"))
        while not reader.is_mounted:  # noqa: ASYNC110 - a pause would let the layout pass
            await asyncio.sleep(0)
        app.screen._compositor._full_map_invalidated = True  # as after a scroll
        assert reader.region
        await wait_until(pilot, "vacation")


async def test_what_is_selected_is_copied_else_the_source() -> None:
    async with _run(_LIBRARY, "Leave") as (app, reader, _pilot):
        reader.action_copy()
        text = _TEXT[_TEXT.index("## Leave") : _TEXT.index("## Security")]
        assert app.clipboard == f"{text.rstrip()}\n\n(Handbook › Leave)\n"
        top = reader.top_y
        app.screen.selections = {reader: Selection(Offset(5, top + 3), Offset(4, top + 7))}
        assert reader.get_text_to_copy() == (
            "weeks of vacation, see the rules.\n\nSick leave\n\nCall\n\n(Handbook › Leave)\n"
        )
        selected, rest, *_ = reader.render_line(7)
        assert selected.text == "Call"
        assert selected.style != rest.style
        app.screen.selections = {reader: Selection(Offset(0, top + 7), None)}
        assert (app.screen.get_selected_text() or "").startswith("Call in, then rest.")


async def test_a_large_document_costs_what_is_read_of_it() -> None:
    library = make_library(_BOOK * 5)
    async with _run(library) as (_, reader, pilot):
        assert len(reader.lines.chunks) > 300
        assert len(reader.lines.cached) <= 2
        for _ in range(3):
            reader.action_page(1)
            await pilot.pause()
        reader.action_move(5_000)
        await pilot.pause()
        reader.action_last()
        await pilot.pause()
        assert len(reader.lines.cached) <= 12


async def test_the_last_words_of_a_document_are_shown_although_its_lines_were_only_estimated() -> None:
    code = "# Part\n\n```\n" + "c\n" * 200 + "```\n\n"
    async with _run(make_library(f"{code * 200}# End\n\nVery last words.\n")) as (_, reader, pilot):
        reader.action_last()
        await pilot.pause()
        shown = [reader.render_line(row).text.strip() for row in range(reader.view_size.height)]
        assert "Very last words." in shown


_HTML = read_case("details.md")


async def test_details_are_read_unfolded_and_links_are_followed_by_number_and_click() -> None:
    async with _run(make_library(_HTML), "Page", size=(54, 30)) as (app, reader, pilot):
        assert list_lines(reader)[3:6] == ["▾ Why is it so?", "", "Because of the moon and its tides."]
        hrefs = [shown.link.href for shown in reader.lines.list_links(range(99))]
        assert hrefs == ["why.md", "moon.md", "alert.md", "tide.png"]
        await pilot.press("o")
        await pilot.pause()
        assert list_lines(reader)[3].startswith("▾ Why is 1t")
        await pilot.press("2")
        assert list_lines(reader)[5] == "Because of the moon and its tides.", "the numbers are gone"
        await pilot.click(reader, offset=(10, 3))
        await pilot.pause()
        assert reader.followed == ("moon.md", "why.md")
        await pilot.press("o", "9")
        await pilot.pause()
        assert app.list_told()[-1] == "No link 9 in view"
        await pilot.press("o")
        app.set_focus(None)
        await pilot.pause()
        assert list_lines(reader)[3].startswith("▾ Why is it"), "in another pane, digits are no links"


async def test_a_quote_is_read_in_its_section_whatever_the_lines_above_turn_out_to_take() -> None:
    text = (Path(__file__).parents[3] / "examples" / "handbook.md").read_text("utf-8")
    library = make_library(text)
    quote = "Petrol machines, loose batteries and anything with wheels"
    exceptions = id_of(library, "Exceptions")
    start = text.index(quote)
    async with _run(library, "Glossary") as (_, reader, pilot):
        reader.show_section(library, exceptions, highlight=Span(doc="", start=start, end=start + len(quote)))
        await pilot.pause()
        assert "".join(list_marked(reader, HighlightKind.QUOTE)).startswith("Petrol machines")
        assert reader.section_id == exceptions
        assert list_lines(reader)[0] == "Exceptions", "the heading and the quote fit"


async def test_a_match_in_a_log_is_shown_on_its_line() -> None:
    lines = [f"2024-03-01 {n // 60:02}:{n % 60:02}:00 INFO request" for n in range(1_000)]
    lines[138] = "2024-03-01 02:18:00 ERROR"
    log = SourceText(text="\n".join(lines), source="a.log", name="a.log", is_markdown=False)
    library = make_document_library(log)
    async with _run(library) as (_, reader, pilot):
        reader.highlight_words(("ERROR",), library.root.text.index("ERROR"))
        await pilot.pause()
        assert [line.strip() for line in list_lines(reader)[:5]] == lines[135:140]
        assert reader.section_id == library.find_node_at("", library.root.text.index("ERROR"))


async def test_wide_code_says_that_it_goes_on_and_is_read_to_its_end() -> None:
    code = "".join(f"word{number}," for number in range(20))
    async with _run(make_library(f"# Guide\n\n```\n{code}\nshort\n```\n")) as (_app, reader, pilot):
        rows = [reader.render_line(y).text.rstrip() for y in range(reader.view_size.height)]
        (wide,) = (row for row in rows if "word0" in row)
        assert wide.endswith("›")
        assert not any(row.endswith("›") for row in rows if row is not wide)
        reader.focus()
        await pilot.press(*["right"] * 40)
        await wait_until(pilot, lambda: reader.render_line(rows.index(wide)).text.rstrip().endswith("word19,"))
