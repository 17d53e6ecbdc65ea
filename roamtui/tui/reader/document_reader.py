"""`DocumentReader`: the main screen's reader. It follows links, steps through sections, and goes back."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.app import SuspendNotSupported
from textual.message import Message
from textual.timer import Timer
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.convert.formats import CONVERTED_SUFFIXES, SLOW_SUFFIXES
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.document.links import (
    DeadLink,
    FileLink,
    SectionLink,
    WebLink,
    find_fragment,
    locate_section,
    resolve_link,
)
from roamtui.editor import get_editor, make_editor_command, open_in_viewer
from roamtui.errors import format_reason
from roamtui.markdown.blocks import Link
from roamtui.quotes.current_text import find_cited_passage
from roamtui.quotes.find import find_in_span
from roamtui.text import Span
from roamtui.tui.messages import (
    DocumentRequested,
    LinkTarget,
    ReadingPositionChanged,
    ReturnRequested,
    SectionRead,
    SectionTarget,
)
from roamtui.tui.reader.reader import Reader, ReadingPosition
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog

_PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
_READING_SECONDS = 0.5
"""A section counts as read once it has been at the top of the view for this long."""


class DocumentReader(Reader):
    """The reader of a conversation's document. It is hidden until it shows a section."""

    @dataclass
    class Opened(Message):
        """The reader went to a section."""

        section_id: str
        moves_outline: bool
        """Whether the person went there to read, so that the outline follows."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self.display = False
        self._conversation = conversation
        self._position_timer: Timer | None = None
        self._jumps: list[ReadingPosition] = []
        """The positions before the last jumps, to go back to."""

    @property
    def library(self) -> Library:
        """The library of the section that is shown, or that of the conversation if the reader is empty."""
        return self._conversation.state.library if self._library is None else self._library

    def open(
        self,
        section_id: str,
        *,
        highlight: Span | None = None,
        is_nearest: bool = False,
        offset: int = 0,
        is_visit: bool = True,
    ) -> None:
        """Show a section, as `show_section` does, and remember the previous position, to go back to it.

        With `is_visit`, the outline follows, and the conversation records that the person reads the section.
        """
        self.display = True
        before = self.position
        self.show_section(self.library, section_id, highlight=highlight, is_nearest=is_nearest, offset=offset)
        if before is not None and self.position != before:
            self._jumps.append(before)
        self.match_label = ""
        self.post_message(self.Opened(section_id, is_visit))
        if is_visit:
            self._record(section_id)

    def _record(self, section_id: str | None) -> None:
        """Record that the person reads a section. If it failed to load, this loads it again."""
        state = self._conversation.state
        has_failed = section_id in state.library and bool(state.library.node(section_id or "").problem)
        if state.reading_id != section_id or has_failed:
            self.post_message(SectionRead(section_id))

    @on(ReadingPositionChanged)
    def _record_after_rest(self) -> None:
        if self._position_timer is not None:
            self._position_timer.stop()
        self._position_timer = self.set_timer(_READING_SECONDS, lambda: self._record(self.section_id))

    def show_last_read(self) -> None:
        """Show the section that was last read in the conversation."""
        section_id = self._conversation.state.reading_id
        if section_id is not None and section_id in self.library:
            self.open(section_id, is_visit=False)

    def open_target(self, target: SectionTarget, *, is_visit: bool = True) -> None:
        """Open a section or quote that the conversation refers to.

        If another section contains the quote, show that section. If none does, show the nearest passage. If a
        passage has a key sentence, only that is highlighted: the passage may be longer than the view.
        """
        section_id = target.section_id
        span: Span | None = None
        warning = ""
        if target.citation is not None:
            span, warning = find_cited_passage(target.citation, self._conversation.state)
        if span is not None:
            section_id = self.library.find_node_at(span.doc, span.start) or section_id
        if section_id not in self.library:
            self._warn(f"The model cited section {section_id}, which does not exist.")
            return
        is_nearest = span is not None and bool(warning)
        if span is not None and target.key_sentence:
            found = find_in_span(target.key_sentence, self.library, span)
            span = found.span if found else span
        self.open(section_id, highlight=span, is_nearest=is_nearest, is_visit=is_visit)
        if warning:
            self.notify(f"{warning}.", markup=False)

    def show_match(self, match: Span) -> None:
        """Open the section of a search match. If its document is shown already, do not scroll."""
        library = self.library
        section_id = library.find_node_at(match.doc, match.start)
        if section_id is None:
            return
        shown_id = self.section_id
        if shown_id in library and library.node(shown_id or "").content_span.doc == match.doc:
            self.post_message(self.Opened(section_id, moves_outline=True))
            self._record(section_id)
        else:
            self.open(section_id)

    @work(group="pages", exclusive=True, exit_on_error=False)
    async def ask_for_page(self, section_id: str | None) -> None:
        """Ask for a page of a section's file, or else of the only file that has pages, and go there."""
        library = self.library
        key = None if section_id is None else library.node(section_id).content_span.doc
        paged = [document for document in library.documents if document.page_starts]
        document = next((each for each in paged if each.key == key or len(paged) == 1), None)
        if document is None:
            several = "Move the outline's cursor to a file that has pages first."
            self._warn(several if paged else "This document has no pages.")
            return
        count = len(document.page_starts)

        def check(typed: str) -> str:
            # Python refuses to convert very long numbers
            is_page = typed.isdecimal() and len(typed) <= len(str(count)) and 1 <= int(typed) <= count
            return "" if is_page else f"Type a number from 1 to {count:,}, or press esc to cancel."

        prompt = PromptDialog(f"Go to page (1 to {count:,})", "", check=check)
        answer = await self.app.push_screen_wait(prompt)
        if answer is None:
            return
        start = document.page_starts[int(answer) - 1]
        page_id = library.find_node_at(document.key, start)  # the section that contains the start of the page
        if page_id is not None:
            self.open(page_id, offset=start - library.node(page_id).content_span.start)

    def action_back(self) -> None:
        """Go back to the position before the last jump, or to the document whose link led to this one."""
        while self._jumps:
            position = self._jumps.pop()
            if position.section_id in self.library:
                count = len(self._jumps)
                self.open(position.section_id, offset=position.offset, is_visit=False)
                del self._jumps[count:]  # going back does not count as a jump
                self._record(self.section_id)
                return
        self.post_message(ReturnRequested())

    def action_step_section(self, direction: int) -> None:
        """Show the node whose text follows (1) or precedes (-1) the current one. Folders are skipped."""
        if self.section_id is None:
            return
        library = self.library
        current = library.node(self.section_id)
        start = current.content_span
        numbering = library.numbering
        number = numbering.number_of(current.document, current.row)
        others = range(number + 1, len(numbering)) if direction > 0 else reversed(range(number))
        for node in map(library.node, map(numbering.id_of, others)):
            span = node.content_span
            is_same = (span.doc, span.start) == (start.doc, start.start)
            if not is_same and node.kind is not NodeKind.FOLDER:
                self.open(node.id)
                return
        self.notify(f"{'Last' if direction > 0 else 'First'} section", markup=False)

    def follow_answer_link(self, target: LinkTarget) -> None:
        """Follow a link in an answer."""
        library = self.library
        section_id = target.href.lstrip("#")
        origin_id = target.section_id if target.section_id in library else next(library.walk(), None)
        if section_id in library:  # some models write a section's id as a URL
            self.open(section_id)
        elif origin_id is not None:
            self._follow_link(target.href, origin_id, with_files=False)

    @override
    def follow(self, link: Link) -> None:
        if self.section_id is not None:
            self._follow_link(link.href, self.section_id)

    def action_look(self) -> None:
        """Open the first image in view, or else the PDF, in another program."""
        links = (shown.link for shown in self.lines.list_links(self.view_range))
        image = next((link for link in links if link.is_image), None)
        if image is not None:
            self.follow(image)
        elif self.section_id is None or not self.format_page(self.offset_in_view):
            self.notify("No picture or page in view", markup=False)
        elif (file := locate_section(self.library, self.section_id)) is None:
            self._warn("The file of this page is not on this machine.")
        else:
            self._open_outside(file.path.resolve())

    @work(group="following")
    async def _follow_link(self, href: str, section_id: str, *, with_files: bool = True) -> None:
        """Follow a link. Only with `with_files` may it lead to another file: a model's link must not."""
        match resolve_link(href, self.library, section_id, with_files=with_files):
            case SectionLink(target, span):
                self.open(target, highlight=span)
            case WebLink(url):
                if await self._confirm("Open this page in your browser?", url):
                    self.app.open_url(url)
            case FileLink(path) if path.suffix.lower() in _PICTURE_SUFFIXES:
                if await self._confirm("Open this picture in another program?", str(path)):
                    self._open_outside(path)
            case FileLink(path, fragment, is_outside):
                question = "Open a file outside the folder that you opened?"
                if not is_outside or await self._confirm(question, str(path)):
                    self.post_message(DocumentRequested(str(path), place=fragment))
            case DeadLink(reason):
                self._warn(reason)

    async def _confirm(self, question: str, detail: str) -> bool:
        return await self.app.push_screen_wait(ConfirmDialog(question, detail, yes="Open"))

    def _open_outside(self, path: Path) -> None:
        opened = "Opened" if open_in_viewer(path) else "No program here opens"
        self.notify(f"{opened} {path}", markup=False)

    def show_anchor(self, anchor: str) -> None:
        """Show an anchor that a link in another document names, or the start if it is empty."""
        library = self.library
        first_id = next(library.walk(), None)
        if first_id is None:
            return
        document = library.node(first_id).document
        link = find_fragment(library, document, anchor) if anchor else SectionLink(first_id)
        target = link or SectionLink(first_id)
        self.open(target.section_id, highlight=target.span)
        if link is None:
            self.notify(f'This document has no heading for the link "#{anchor}"', markup=False)

    def action_edit(self) -> None:
        if self.section_id is not None and (problem := self._edit(self.section_id)):
            self._warn(problem)

    def _edit(self, section_id: str) -> str:
        own = locate_section(self.library, section_id)
        if own is None:
            return "Only local files can be edited."
        file = own.path
        if file.suffix.lower() in SLOW_SUFFIXES:
            return f"{file.name} is not a text file. Edit it in another program, then reload the document."
        editor = get_editor()
        if not editor:
            return "No editor configured. Set $EDITOR."
        line = 0
        if file.suffix.lower() not in CONVERTED_SUFFIXES:  # its line numbers would be those of the Markdown
            line = self.library.get_line_range(self.library.node(section_id).span).first_line
        try:
            with self.app.suspend():
                try:
                    command = make_editor_command(editor, file.absolute(), line)
                    subprocess.run(command, check=False)  # noqa: S603 - the person's own editor
                except (OSError, ValueError) as error:
                    # Caught here, because Textual does not resume after an error.
                    return f"Could not start {editor}: {format_reason(error)}. Set $EDITOR to another editor."
        except SuspendNotSupported:
            return "This terminal cannot suspend the app for an editor."
        return ""

    def end_search(self) -> bool:
        """Remove the search highlights. Return whether there were any."""
        if not self.highlights.words:
            return False
        self.highlight_words(())
        return True

    @property
    def selected_place(self) -> tuple[str | None, Span | None]:
        """The section and the span of the selection or highlight, otherwise the current section and None."""
        span = self.get_selection_span()
        if span is None:
            return self.section_id, None
        return self.library.find_node_at(span.doc, span.start) or self.section_id, span

    def _warn(self, problem: str) -> None:
        self.notify(problem, severity="warning", markup=False)
