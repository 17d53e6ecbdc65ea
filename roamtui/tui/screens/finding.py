"""The main screen as far as finding and reading go."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual import on

from roamtui.tui.commands import open_section
from roamtui.tui.node_names import name_above
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.screens.asking import AskingScreen

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.search.base import Hit
    from roamtui.tui.screens.find import Found
    from roamtui.tui.screens.reading import Reading

_NO_SEARCH = (
    "Search is switched off here: set the mode of [retrieval] in config.toml to keyword, or leave --mode off away."
)


class FindingScreen(AskingScreen):
    """Finds sections by what they say, and brings them into the reader."""

    _found: Found | None = None

    @cached_property
    def _reading(self) -> Reading:
        """What brings sections into the reader."""
        from roamtui.tui.screens.reading import Reading  # noqa: PLC0415 - not for the first screen

        return Reading(self.session, self.tree_pane, self.reader_pane, self.switch, self.send)

    @on(TreePane.FindWanted)
    def _find_from_tree(self, event: TreePane.FindWanted) -> None:
        event.stop()
        self.action_find()

    def action_find(self) -> None:
        """Find sections by what they say."""
        from roamtui.tui.screens.find import FindScreen, Found  # noqa: PLC0415 - not for the first screen

        if self.app_context.agent.searcher is None:
            self.complain(_NO_SEARCH)
            return
        screen = FindScreen(self._find, self._open_found, self._keys, self._found or Found(query=""))
        self.app.push_screen(screen, self._read_found)

    async def _find(self, query: str) -> Found:
        from roamtui.tui.screens.find import HITS_MAX, Found  # noqa: PLC0415 - not for the first screen

        hits = await self._conversing.search(query, limit=HITS_MAX)
        library = self.session.state.library
        titles = tuple((_name(library, hit.section_id), _name_above(library, hit.section_id)) for hit in hits)
        self._found = Found(query=query, hits=hits, titles=titles)
        self.tree_pane.show_found(tuple(hit.section_id for hit in hits))
        return self._found

    def _open_found(self, section_id: str) -> None:
        self.send(open_section(section_id))

    def _read_found(self, hit: Hit | None) -> None:
        if hit is not None:
            self._reading.show_hit(hit.section_id, hit.snippet, came_from=self.tree_pane.outline)


def _name(library: Library, section_id: str) -> str:
    from roamtui.outline.labels import name_node  # noqa: PLC0415 - not for the first screen

    return name_node(library.node(section_id))


def _name_above(library: Library, section_id: str) -> str:
    """Return where a section stands; the document's own title goes without saying."""
    from roamtui.outline.labels import name_path  # noqa: PLC0415 - not for the first screen

    if library.title_id() is not None:
        return name_above(library, section_id)
    above = library.ancestors(section_id)
    return name_path(library, above[-1]).replace(" > ", " › ") if above else ""
