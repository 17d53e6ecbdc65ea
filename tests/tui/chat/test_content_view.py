"""The lines of a view, drawn for its width."""

import gc
from weakref import ref

from textual.app import App
from textual.content import Content
from typing_extensions import override

from roamtui.tui.chat.content_view import ContentView, wrap


class _Lines(list[Content]):
    """A list that can be referred to weakly."""


class _View(ContentView):
    @override
    def draw(self, width: int) -> list[Content]:
        return _Lines([Content("One line.")])


async def test_a_removed_view_holds_no_lines() -> None:
    async with App[None]().run_test() as pilot:
        view = _View()
        await pilot.app.mount(view)
        await pilot.pause()
        drawn = ref(view.lines)
        await view.remove()
        gc.collect()
        assert drawn() is None


def test_a_lead_that_is_longer_than_the_others_leaves_the_words_less_room() -> None:
    lines = wrap(Content("Insert a line break."), 30, lead="ctrl+j shift+enter ", follow="       ")
    assert [line.plain for line in lines] == ["ctrl+j shift+enter Insert a", "       line break."]
