"""Choosing colours and models from a list."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from textual import on
from textual.app import App, ComposeResult
from textual.color import Color
from textual.containers import Vertical
from textual.content import Content
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.conversation.transcript import Message, Role
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model, ModelRequest, TextDelta
from roamtui.models.registry import ModelOffer, inspect_providers
from roamtui.models.secrets import name_key
from roamtui.tui.context import ModelFactory
from roamtui.tui.messages import ModelReleased
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog, PickerDialog
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.status_line import adapt_flags, make_model_label
from roamtui.tui.themes import contrast

_HINT = "enter chooses, esc closes"
_CONTRAST_HIGH = 10.0
"""Of the softest text; 7 is what WCAG's level AAA asks of all text."""
_OTHER = "another model…"


def pick_theme(app: App[None], save: Callable[[str, str], None] | None) -> None:
    """Let a person choose a theme; each shows itself as they go over it, and `save` keeps their choice."""
    before, screen = app.theme, app.screen
    themes = [theme for theme in app.available_themes.values() if not theme.primary.startswith("ansi")]
    themes.sort(key=lambda theme: (theme.name in BUILTIN_THEMES, theme.name))
    choices = {theme.name: _describe_theme(theme) for theme in themes}

    def preview(name: str) -> None:
        app.theme = name

    def finish(name: str | None) -> None:
        app.theme = name or before
        if name is not None and name != before and save is not None:
            keeping = asyncio.to_thread(save, "theme", name)
            screen.run_worker(keeping, group="keeping", exit_on_error=False)

    app.push_screen(PickerDialog("Theme", choices, before, preview=preview), finish)


def _describe_theme(theme: Theme) -> str:
    """Return whether a theme is dark or light, and that its contrast is high where even its softest text is clear."""
    kind = "dark" if theme.dark else "light"
    muted, ground = theme.variables.get("muted"), theme.background
    is_high = muted and ground and contrast(Color.parse(muted), Color.parse(ground)) >= _CONTRAST_HIGH
    return f"{kind}, high contrast" if is_high else kind


async def pick_question(screen: MainScreen) -> None:
    """Have the model propose questions, and let a person choose one."""
    screen.status_line.update_status(message="looking for questions to ask")
    try:
        questions = await screen.controller.propose_questions()
    finally:
        screen.status_line.update_status(message="")
    if questions:
        picker = PickerDialog("Questions to ask", dict.fromkeys(questions, ""), questions[0])
        screen.app.push_screen(picker, screen.fill_question)
    else:
        screen.notify("No question is proposed here.", severity="warning")


def pick_model(screen: MainScreen) -> None:
    """Let a person choose a model, and ask once more before text goes to a provider not yet agreed to."""
    options, current = screen.app_context.options, screen.app_context.agent.model.name
    by_name = {offer.name: offer for offer in options.model_offers}
    choices = {offer.name: offer.note for offer in options.model_offers}
    choices = {current: "in use"} | {name: note for name, note in choices.items() if name != current}
    if options.make_model is not None:
        reports = [report for report in inspect_providers(os.environ) if report.name not in choices]
        choices[_OTHER] = "by name, at an address, with a key"  # in view also in a small window
        choices |= {report.name: report.reason for report in reports if not report.is_usable}
    picker = PickerDialog("Model", choices, current, foot=_HINT)

    async def add_found() -> None:
        assert options.discover_models is not None
        picker.show_foot(f"{_HINT}\nlooking for an Ollama on this machine…")
        found, words = await asyncio.to_thread(options.discover_models)
        by_name.update((offer.name, offer) for offer in found)
        if picker.is_attached:
            picker.add_choices({offer.name: offer.note for offer in found})
            picker.show_foot(f"{_HINT}\n{sanitise_line(words)}")

    def take(name: str | None) -> None:
        if name in by_name and name != current:
            _confirm_provider(screen, by_name[name])
        elif name not in (None, current) and options.make_model is not None:
            form = ModelForm(options.make_model, "" if name == _OTHER else name or "")
            screen.app.push_screen(form, take_made)

    def take_made(made: tuple[Model, str] | None) -> None:
        if made is not None:
            _switch_model(screen, *made, may_keep=True)

    screen.app.push_screen(picker, take)
    if options.discover_models is not None:
        picker.call_after_refresh(picker.run_worker, add_found, exit_on_error=False)


def _confirm_provider(screen: MainScreen, offer: ModelOffer) -> None:
    """Use a model once the person has agreed to where their text goes."""

    def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
        if answer:
            try:
                _switch_model(screen, offer.choose(), may_keep=screen.app_context.options.may_save_model)
            except RoamtuiError as error:
                screen.chat_log.add_notice(str(error))

    if not offer.provider:
        take(True)  # noqa: FBT003 - as if a person had said it
        return
    question = f"Use {offer.name}? Your questions and the sections that are opened go to {offer.provider}."
    screen.app.push_screen(ConfirmDialog(question, offer.note, yes="Use it"), take)


def _switch_model(screen: MainScreen, model: Model, address: str | None = None, *, may_keep: bool) -> None:
    """Let a model answer from now on; its address, where one was typed, belongs to it wherever it is kept."""
    context = screen.app_context
    before, context.agent.model = context.agent.model, model
    label = make_model_label(model.name)
    screen.status_line.update_status(model=label.name, model_note=label.short_note)
    screen.welcome.show_model(label)
    screen.post_message(ModelReleased(before))
    screen.start_worker(screen.warm_up(), "warming")
    save = context.options.save_setting
    if save is None or not may_keep:
        return

    def save_all() -> None:
        save("model", model.name)
        if address is not None:
            save("api_base", address)

    def keep(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
        if answer:
            screen.start_worker(asyncio.to_thread(save_all), "keeping")

    question = "Use this model at the next start too? Then config.toml names it; a key is never written."
    screen.app.push_screen(ConfirmDialog(question, model.name, yes="From now on", no="This time"), keep)


class ModelForm(Dialog[tuple[Model, str] | None]):
    """Takes a model's name, an address and, for this run, a key; tries it before it is used.

    The result is the model, and the address of its server, empty for its provider's own.
    """

    AUTO_FOCUS = "#model-name"
    DEFAULT_CSS = """
    ModelForm {
        & > Vertical { width: 76; }
        & .label { color: $muted; margin-top: 1; }
        & Input { margin: 0; }
        & #model-said { margin-top: 1; height: auto; }
        & #model-said.-problem { color: $warning; }
        & .foot { margin-top: 1; }
        &.-short > Vertical { max-height: 100%; padding: 0 2; }
        &.-short .label, &.-short #model-said, &.-short .foot { margin-top: 0; }
    }
    """

    def __init__(self, make: ModelFactory, name: str) -> None:
        """Make what is named by `make`; `name` stands there at first."""
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]
        self._make = make
        self._name = name
        self._tried: tuple[str, str, str] | None = None
        """What stood in the fields when the model answered."""

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("A model by its name", "bold $primary"))
            yield Static(Content("Name: provider/model, as litellm knows it"), classes="label")
            yield Input(self._name, placeholder="openai/gpt-4.1-mini", id="model-name", select_on_focus=False)
            yield Static(Content("Address, empty for its provider's own"), classes="label")
            yield Input(placeholder="http://localhost:8000/v1", id="model-address", select_on_focus=False)
            yield Static(Content("Key for this run, written nowhere"), classes="label")
            yield Input(password=True, placeholder="empty where none is needed, or one is set", id="model-key")
            yield Static(id="model-said")
            yield Static(Content("tab next field, enter tries it with one token, esc closes"), classes="foot")

    def on_mount(self) -> None:
        """Begin at what is missing."""
        if self._name:
            self.query_one("#model-key").focus()

    @property
    def _fields(self) -> tuple[str, str, str]:
        name, address, key = (field.value.strip() for field in self.query(Input))
        return name, address, key

    def _say(self, words: str, *, is_problem: bool = False) -> None:
        said = self.query_one("#model-said", Static)
        said.set_class(is_problem, "-problem")
        said.update(Content(words))

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        event.stop()
        if self._tried == self._fields:
            name, address, _ = self._fields
            self.dismiss((self._make(name, address or None, False), address))  # noqa: FBT003
        elif self._fields[0]:
            self._tried = None
            self.run_worker(self._try(*self._fields), exclusive=True, exit_on_error=False)

    async def _try(self, name: str, address: str, key: str) -> None:
        """Ask the model for one token, and say what came back; a key that does not lead to one is forgotten."""
        self._say("asking it for one token…")
        variable = name_key(name)
        before = os.environ.get(variable)
        if key:
            os.environ[variable] = key
        try:
            said = await _probe_model(self._make(name, address or None, True))  # noqa: FBT003
        except RoamtuiError as error:
            self._say(adapt_flags(sanitise_line(str(error))), is_problem=True)
        else:
            self._tried = name, address, key
            whose = address or name.partition("/")[0]
            self._say(f"{said} enter uses it: questions and the sections it opens go to {sanitise_line(whose)}.")
        finally:
            if key and self._tried is None:
                os.environ.pop(variable, None)
                if before is not None:
                    os.environ[variable] = before


async def _probe_model(model: Model) -> str:
    """Return what a model says to a word of greeting, and how long that took; nothing of a document is sent."""
    started = time.monotonic()
    text = ""
    try:
        request = ModelRequest(messages=(Message(role=Role.USER, text="Say yes."),), allow_calls=False)
        async for event in model.stream(request):
            text += event.text if isinstance(event, TextDelta) else ""
    finally:
        await model.close()
    words = f"“{shorten(sanitise_line(text), 40)}”" if text.strip() else "without words"
    return f"It answered {words} in {time.monotonic() - started:.1f} s."
