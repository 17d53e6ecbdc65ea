"""Where a person is: the way to the cursor above the outline, to a section above the reader, and how much there is."""

from __future__ import annotations

from roamtui.tui.node_names import name_place
from roamtui.tui.panes.pane import PaneTitle
from tests.tui.driving import find_id, make_app, wait_until
from tests.tui.tree.outlines import find_id as find_in
from tests.tui.tree.outlines import make_library


def _note(title: PaneTitle) -> str:
    return title.render().plain.removesuffix("tok").rstrip().rpartition("  ")[2]


def test_the_documents_own_title_is_no_part_of_a_place() -> None:
    library = make_library("# Book\n\n## One\n\n### Two\n\nText.\n")
    path = (*library.ancestors(find_in(library, "Two")), find_in(library, "Two"))
    assert name_place(library, path) == "One › Two"


async def test_the_line_above_the_outline_says_what_stands_above_the_cursor() -> None:
    app = make_app()
    async with app.run_test(size=(120, 30)) as pilot:
        title = app.main.tree_pane.title_line
        await wait_until(pilot, lambda: _note(title) == "8 sections")
        await pilot.press("escape", "E")
        app.main.tree_pane.outline.move_to(find_id(app, "Steam"))
        await wait_until(pilot, lambda: _note(title) == "Ovens › Deck oven")
        await pilot.press("g")
        await wait_until(pilot, lambda: _note(title) == "8 sections")
