"""`FindController`: searches the document, goes to what a person chooses, and steps from match to match."""

from __future__ import annotations

from roamtui.agent.loop import Agent
from roamtui.document.library import Library
from roamtui.quotes.cited_passage import locate_in_span
from roamtui.tui.finder import Finder, FindResults
from roamtui.tui.messages import SearchKind, StatusMessage
from roamtui.tui.panes.pane_switcher import PaneSwitcher
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.screens.find import FindDialog, GroupedResult
from roamtui.tui.text_search import TextMatches, TextPosition
from roamtui.tui.tree.outline_tree import OutlineTree


class FindController:
    """Keeps the results of the last search, and marks its matches in the outline and the reader."""

    def __init__(
        self,
        agent: Agent,
        outline: OutlineTree,
        reader: ReaderPane,
        panes: PaneSwitcher,
    ) -> None:
        """Search the document of `controller`. `panes` shows the reader."""
        self._agent = agent
        self._outline = outline
        self._reader = reader
        self._panes = panes
        self._finder = Finder(agent.load_library, agent.search)
        self._results = FindResults()
        """The results of the last search."""
        self._matches = TextMatches()
        self._position: TextPosition | None = None
        """The match that was shown last."""
        self._searcher = agent.searcher
        """The searcher of the last search."""

    @property
    def _library(self) -> Library:
        return self._agent.conversation.state.library

    def make_dialog(self) -> FindDialog:
        """Prepare a search. The last results stay, unless the document or the searcher has changed."""
        results, searcher = self._results, self._agent.searcher
        if results.library is not self._library or searcher is not self._searcher:
            results = FindResults(query=results.query, is_complete=not results.query)
        self._searcher = searcher
        return FindDialog(self._finder, results)

    def end(self, dialog: FindDialog, chosen: GroupedResult | None) -> None:
        """Mark the results in the outline, and go to the chosen one."""
        results = self._results = dialog.results
        if results.query.strip():
            groups = [group for group in results.groups if group.kind is not SearchKind.TITLES]
            self._outline.mark_found(result.section_id for group in groups for result in group.sections)
        if chosen is None or chosen[1].section_id not in self._library:
            return
        group, section = chosen
        own_span = self._library.own_span(section.section_id)
        quote = locate_in_span(section.sentence, self._library, own_span)
        self._reader.reader.open(section.section_id, highlight=(quote,) if quote else ())
        self._panes.show_reader(came_from=self._outline)
        self._matches = results.matches
        offset = section.match_offset
        self._highlight_match(group.words, None if offset is None else TextPosition(own_span.doc, offset))

    def _highlight_match(self, words: tuple[str, ...], position: TextPosition | None) -> None:
        self._position = position
        label = f"“{' '.join(words)}”"
        if position is not None:
            label += f" {self._matches.get_number(position):,}/{self._matches.count:,}"
        self._reader.reader.highlight_matches(words, None if position is None else position.offset, label)

    async def go_to_match(self, direction: int) -> None:
        """Go to the next (1) or previous (-1) match, wrapping around at the ends."""
        self._matches = await self._finder.refresh_matches(self._matches)
        position = self._matches.get_adjacent(self._get_search_origin(direction), direction)
        if position is None:
            words = "No match" if self._matches.words else "Nothing to search for"
            self._outline.post_message(StatusMessage(words))
        else:
            self._reader.reader.show_match(position)
            self._panes.show_reader_unfocused()
            self._highlight_match(self._matches.words, position)

    def _get_search_origin(self, direction: int) -> TextPosition:
        """Return where to continue: at the last match, or at the current section if the person has moved since."""
        library, outline, last_match = self._library, self._outline, self._position
        current_id = outline.cursor_id if outline.has_focus else self._reader.section_id or outline.cursor_id
        if current_id is None or current_id not in library:
            return last_match or TextPosition("", -1)
        span = library.get_content_span(current_id)
        if (
            last_match is not None
            and last_match.doc == span.doc
            and (not outline.has_focus or span.start <= last_match.offset < span.end)
        ):
            return last_match
        # When searching forwards, start one character earlier, so that a match at the start of the section counts.
        return TextPosition(span.doc, span.start - 1 if direction > 0 else span.start)
