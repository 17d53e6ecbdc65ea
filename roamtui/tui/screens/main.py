"""The main screen: asks, dispatches, jumps and copies as a person wants, and tells what fails."""

from __future__ import annotations

import asyncio
from functools import cached_property, partial
from typing import TYPE_CHECKING

from textual import on

from roamtui.tui.actions import Action, Scope
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.chat.content_view import EarlierTarget, ExampleTarget, LinkTarget, SectionTarget, TargetChosen
from roamtui.tui.commands import CommandWanted
from roamtui.tui.copying import CopyWanted
from roamtui.tui.header_line import HeaderLine
from roamtui.tui.model_label import label_model
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.reader.messages import LinkClicked
from roamtui.tui.screens.finding import FindingScreen
from roamtui.tui.screens.following import Following
from roamtui.tui.screens.next_question import aim_again
from roamtui.tui.screens.reloading import Reloading
from roamtui.tui.source_watch import SourceWatch
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.models.base import Model
    from roamtui.tui.context import FirstContext
    from roamtui.tui.keys import Keys
    from roamtui.tui.screens.turning import Turn

_LOOK_SECONDS = 2.0
"""Between two looks at the document on disk; each costs one question to the file system."""


class MainScreen(FindingScreen):
    """Carries out what a person wants of the panes."""

    def __init__(self, first: FirstContext, keys: Keys, problems: tuple[str, ...] = ()) -> None:
        """Show `first`, and `problems` of the configuration in sentences."""
        super().__init__(first, keys, problems)
        self._watch = SourceWatch.of_file(first.state.library.source)

    @cached_property
    def _reloading(self) -> Reloading:
        """What reads the document again."""
        return Reloading(self.app_context, self._watch, self._conversing, self.status_line, self._keys)

    @cached_property
    def _following(self) -> Following:
        """What lets the reader follow the outline."""
        return Following(self, self._reading, self.switch)

    def on_mount(self) -> None:
        """Look at the document on disk from time to time."""
        self.set_interval(_LOOK_SECONDS, self.look_at_source)

    async def run_chosen(self, action: Action) -> None:
        """Go where an action belongs and carry it out, as the command palette does."""
        match action.scope:
            case Scope.TREE:
                self.switch.go_tree()
            case Scope.CHAT:
                self.switch.go_log()
            case Scope.READER:
                self.action_go_reader()
            case Scope.GLOBAL | Scope.INPUT | Scope.CONVERSATIONS | Scope.FIND | Scope.START:
                pass
        await self.app.run_action(action.method, self.find_owner(action.scope))

    @on(ChatLog.ForkWanted)
    def _branch_off(self, event: ChatLog.ForkWanted) -> None:
        from roamtui.tui.screens.turning import branch_off  # noqa: PLC0415 - not for the first screen

        event.stop()
        if not self.is_busy():
            exchange = self.session.state.transcript.exchanges[event.number - 1]
            self._turn(branch_off(exchange, aim_again(exchange, self.session.state.library).within))

    def _turn(self, turn: Turn) -> None:
        self.run_worker(self._turn_to(turn), group="commands", exit_on_error=False)

    async def _turn_to(self, turn: Turn) -> None:
        """Bring another conversation onto the screen, ready for its next question."""
        await self._conversing.turn_to(turn.make)
        self._next.leave()
        for exchange in self.session.state.transcript.exchanges:
            self.question_box.remember(exchange.question)
        self._reading.resume()
        self.switch.show_chat()
        self.switch.go_box()
        if turn.question:
            self.question_box.fill(turn.question)
        self.status_line.change(message=turn.message)
        if turn.within is not None:
            self._next.narrow(turn.within, self.session.state.library)

    @on(CommandWanted)
    def _dispatch(self, event: CommandWanted) -> None:
        event.stop()
        self.send(event.make, otherwise=event.otherwise)

    @on(TargetChosen)
    def _show_target(self, event: TargetChosen) -> None:
        event.stop()
        match event.target:
            case ExampleTarget(question):
                self.question_box.fill(question)
                self.switch.go_box()
            case EarlierTarget():
                self.chat_log.show_earlier()
            case LinkTarget():
                self.complain(self._reading.follow_answer(event.target, self.app))
            case SectionTarget():
                self.complain(self._reading.jump(event.target, came_from=self.chat_log))

    @on(OutlineTree.NodeActivated)
    def _read(self, event: OutlineTree.NodeActivated) -> None:
        event.stop()
        self._reading.read(event.section_id, came_from=self.tree_pane.outline)

    @on(TreePane.Grown)
    def _show_grown(self, event: TreePane.Grown) -> None:
        event.stop()
        self._reading.show_loaded(event.section_ids)

    @on(TreePane.HitChosen)
    def _show_hit(self, event: TreePane.HitChosen) -> None:
        event.stop()
        self._reading.read_beside(event.section_id)

    @on(TreePane.SearchEnded)
    def _unmark_hits(self, event: TreePane.SearchEnded) -> None:
        event.stop()
        self.reader_pane.mark("")

    @on(OutlineTree.CursorMoved)
    def _follow_cursor(self, event: OutlineTree.CursorMoved) -> None:
        event.stop()
        self._following.note_cursor(event.section_id, has_focus=self.focused is self.tree_pane.outline)

    @on(TreePane.BatchShown)
    def _follow_model(self, event: TreePane.BatchShown) -> None:
        event.stop()
        self._following.note_opened(event.section_id)

    def action_follow(self) -> None:
        """Let the reader follow the outline, or stay."""
        is_following = self._following.toggle()
        self.reader_pane.show_following(is_following=is_following)
        self.status_line.change(message="the reader follows the outline" if is_following else "the reader stays")
        if is_following and self.tree_pane.outline.cursor_id is not None:
            self._reading.read_beside(self.tree_pane.outline.cursor_id)

    @on(ReaderPane.WentBack)
    def _note_reading(self, event: ReaderPane.WentBack) -> None:
        event.stop()
        self._reading.refresh()

    @on(LinkClicked)
    def _follow_link(self, event: LinkClicked) -> None:
        event.stop()
        self.complain(self._reading.follow(event.href, self.app))

    @on(ReaderPane.EditWanted)
    def _edit(self, event: ReaderPane.EditWanted) -> None:
        event.stop()
        self.complain(self._reading.edit(event.section_id, self.app))

    @on(CopyWanted)
    def _copy(self, event: CopyWanted) -> None:
        event.stop()
        self.app.copy_to_clipboard(event.text)
        self.notify(f"Copied {event.what}.", markup=False, timeout=2)

    def action_palette(self) -> None:
        """Find a command by its name."""
        self.app.action_command_palette()

    def action_help(self) -> None:
        """Show all keys."""
        from roamtui.tui.screens.help import HelpScreen  # noqa: PLC0415 - not for the first screen

        here = self.scope_of(self.focused) if self.focused is not None else Scope.GLOBAL
        self.app.push_screen(HelpScreen(self._keys, here))

    def action_choose_theme(self) -> None:
        """Choose the colours."""
        from roamtui.tui.screens.choosing import choose_theme  # noqa: PLC0415 - not for the first screen

        choose_theme(self.app, partial(self._keep, "theme"))

    def _keep(self, setting: str, value: str) -> None:
        """Write a choice down for the next start."""
        save = self.app_context.options.save_setting
        if save is not None:
            self.run_worker(asyncio.to_thread(save, setting, value), group="keeping", exit_on_error=False)

    def action_conversations(self) -> None:
        """List the saved conversations."""
        from roamtui.tui.screens.turning import choose_conversation  # noqa: PLC0415 - not for the first screen

        if not self.is_busy():
            self.complain(choose_conversation(self.app, self.session, self._keys, self._turn))

    def action_new_conversation(self) -> None:
        """Begin a new conversation."""
        from roamtui.tui.screens.turning import begin_anew  # noqa: PLC0415 - not for the first screen

        if not self.is_busy():
            self._turn(begin_anew())

    def look_at_source(self) -> None:
        """Look whether the document has changed on disk."""
        self.run_worker(self._look_at_source(), group="looking", exclusive=True, exit_on_error=False)

    async def _look_at_source(self) -> None:
        library = await self._reloading.look()
        if library is not None:
            self._show_library(library)

    def action_reload(self) -> None:
        """Read the document again."""
        if not self.is_busy():
            self.run_worker(self._reload(), group="reloading", exclusive=True, exit_on_error=False)

    async def _reload(self) -> None:
        library = await self._reloading.reload()
        if library is not None:
            self._show_library(library)

    def _show_library(self, library: Library) -> None:
        self.query_one(HeaderLine).show(library.title, library.source)
        self.reader_pane.show_again(library)

    def action_choose_model(self) -> None:
        """Choose the model that answers."""
        from roamtui.tui.screens.choosing import choose_model  # noqa: PLC0415 - not for the first screen

        if not self.is_busy():
            agent = self.app_context.agent
            options = self.app_context.options
            name, look = agent.model.name, options.look_for_models
            choose_model(self.app, name, options.model_offers, self._use_model, self.warn, look)

    def _use_model(self, model: Model) -> None:
        from roamtui.tui.screens.choosing import ask_to_keep_model  # noqa: PLC0415 - not for the first screen

        before = self.app_context.agent.model
        self.app_context.agent.model = model
        label = label_model(model.name)
        self.status_line.change(model=label.name, model_note=label.short_note)
        self._welcome.show_model(label)
        self.run_worker(before.close(), group="closing", exit_on_error=False)
        self._warm_up()
        if self.app_context.options.save_setting is not None and self.app_context.options.may_save_model:
            ask_to_keep_model(self.app, model.name, partial(self._keep, "model"))

    def action_propose(self) -> None:
        """Have the model propose questions, and put the chosen one into the question box."""
        if not self.is_busy():
            self.run_worker(self._propose(), group="proposing", exclusive=True, exit_on_error=False)

    async def _propose(self) -> None:
        self.status_line.change(message="looking for questions to ask")
        try:
            questions = await self._conversing.propose()
        finally:
            self.status_line.change(message="")
        if not questions:
            self.complain("The model proposed no question.")
            return
        from roamtui.tui.screens.picker import Choice, PickerScreen  # noqa: PLC0415 - not for the first screen

        choices = [Choice(question) for question in questions]
        self.app.push_screen(PickerScreen("Questions to ask", choices, choices[0].name), self._take_question)

    def _take_question(self, question: str | None) -> None:
        if question is not None:
            self.question_box.fill(question)
            self.switch.go_box()

    def action_quit(self) -> None:
        """Leave the program."""
        self.app.exit()
