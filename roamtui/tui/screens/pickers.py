"""The dialogs that choose a theme or a model, which may be saved for the next start."""

import asyncio
import os
from collections import ChainMap
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from textual import events, on, work
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.errors import RoamtuiError, UsageError
from roamtui.models.base import Model, format_window
from roamtui.models.discovery import ModelOffer, inspect_model, inspect_providers, request_one_token
from roamtui.models.providers import get_recommended_key_variable
from roamtui.tui.context import AppContext, Services
from roamtui.tui.messages import ModelReleased
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog, KeyHints, TextField, make_foot
from roamtui.tui.screens.lists import ListDialog, PickerItem, Row, lay_out_columns

_OTHER_MODEL = "Other model…"
_QUICK_SECONDS = 1.0
"""Model servers that run answer this soon, unless the machine is busy."""
_READY_GROUP = "Ready"
_MISSING_KEY_GROUP = "Needs an API key"


def _make_choice(name: str, note: str, group: str, sign: str = "") -> PickerItem[str]:
    return PickerItem(value=name, label=name, note=note, group=group, sign=sign)


class PickerDialog(ListDialog[str, str | None]):
    """Lets a person choose a value. The result is None if they leave."""

    def __init__(
        self,
        title: str,
        choices: Sequence[PickerItem[str]],
        current: str,
        services: Services,
        foot: KeyHints | None = None,
    ) -> None:
        """Offer `choices`, with the cursor on the value `current`.

        `foot` says the keys, unless enter chooses and esc cancels.
        """
        super().__init__(title, foot or make_foot("enter to choose", "esc to cancel"), current=current)
        self.choices = choices
        self.services = services

    @override
    def list_rows(self, typed: str) -> Iterable[Row[str]]:
        return lay_out_columns(self.choices, typed, self.list.line_width)

    def save(self, settings: Mapping[str, str]) -> None:
        """Save settings for the next start. If that fails, say why."""
        try:
            self.services.save_settings(settings)
        except RoamtuiError as error:
            self.app.notify(str(error), severity="error", markup=False)


class ThemePicker(PickerDialog):
    """Lets a person choose a theme, and shows the app in the one under the cursor."""

    def __init__(self, app: App[None], services: Services) -> None:
        """List the themes of `app`."""
        self._original = app.theme
        choices = [
            _make_choice(name, "dark" if theme.dark else "light", "", "●" if name == self._original else "")
            for name, theme in sorted(app.available_themes.items())
        ]
        super().__init__("Theme", choices, self._original, services)

    @override
    def preview(self, item: str) -> None:
        self.app.theme = item

    @override
    def choose(self, item: str) -> None:
        self.dismiss(item)
        self.app.theme = item
        if item != self._original:
            self.save({"theme": item})

    @override
    def action_leave(self) -> None:
        self.dismiss(None)
        self.app.theme = self._original


class ModelPicker(PickerDialog):
    """Lists models, tests the chosen one, and lets the agent use it. The result is its name, or None."""

    def __init__(self, context: AppContext) -> None:
        self._agent = context.agent
        self._current = context.agent.model.name
        foot = make_foot("enter to test and use", "esc to cancel", after=" · ✓ works")
        super().__init__("Model", (), self._current, context.options.services, foot)
        self._environ = ChainMap(self.services.typed_keys, os.environ)
        self._offers = {offer.name: offer for offer in self.services.list_models()}
        self.choices = self._list_choices()

    def _list_choices(self) -> tuple[PickerItem[str], ...]:
        """List the current model, then the models that work, are not tested yet, or lack a key."""
        current = self._current
        model = self._agent.model
        note = "in use"
        if model.small_reason:
            note = f"in use, small model: {model.small_reason}"
        elif model.window_tokens is not None and model.window_note:
            note = f"in use, {format_window(model.window_tokens)} ({model.window_note})"
        choices = [_make_choice(current, note, _READY_GROUP, "●")]
        offers = [offer for offer in self._offers.values() if offer.name != current]
        for offer in sorted(offers, key=lambda offer: not offer.is_known_to_work):
            sign = "✓" if offer.is_known_to_work else ""
            choices.append(_make_choice(offer.name, offer.note, _READY_GROUP, sign))
        choices.append(_make_choice(_OTHER_MODEL, "enter its name, URL and key", _READY_GROUP))
        choices += [
            _make_choice(report.name, report.reason, _MISSING_KEY_GROUP)
            for report in inspect_providers(self._environ)
            if not report.is_usable and report.name != current and report.name not in self._offers
        ]
        return tuple(choices)

    @on(events.Mount)
    @work(exit_on_error=False)
    async def _add_discovered(self) -> None:
        self.show_message("Looking for models on this machine…")
        search = asyncio.create_task(asyncio.to_thread(self.services.discover_models))
        await asyncio.wait([search], timeout=_QUICK_SECONDS)
        if not search.done():
            self.show_message("Still asking the model servers on this machine…")
        offers, summary = await search
        self._offers |= {offer.name: offer for offer in offers}
        self.choices = self._list_choices()
        self.show()
        self.show_message(summary)

    @override
    def list_rows(self, typed: str) -> Iterable[Row[str]]:
        """List the models that match or, if none does, the typed name."""
        unlisted = _make_choice(typed, "not in the list; enter its URL and key", "")
        return super().list_rows(typed) or lay_out_columns([unlisted], "", self.list.line_width)

    @override
    def choose(self, item: str) -> None:
        if item == self._current:
            self.dismiss(None)
        elif (offer := self._offers.get(item)) is not None:
            use = self._use(offer, "", self.show_message)
            self.run_worker(use, group="testing", exclusive=True, exit_on_error=False)
        else:
            self.app.push_screen(ModelDialog("" if item == _OTHER_MODEL else item, self._use_typed))

    async def _use_typed(self, name: str, url: str, key: str, say: Callable[[str], None]) -> bool:
        """Use a typed model, as `_use` does. Without a typed key, first check whether it needs one."""
        if not key:
            say(f"Checking {name}… esc to cancel")
            report = await inspect_model(name, api_base=url or None, environ=self._environ)
            if not report.is_usable:
                raise UsageError(f"{name} cannot be used: {report.reason}")
            say("")
        provider = url or name.partition("/")[0]
        offer = ModelOffer(name=name, note="typed by you", provider=provider, api_base=url, needs_test=True)
        return await self._use(offer, key, say)

    async def _use(self, offer: ModelOffer, key: str, say: Callable[[str], None]) -> bool:
        """Use a model that replies, if the person agrees. Return whether it is used. `say` shows progress."""
        if offer.provider:
            sent = f"Your questions and opened sections will be sent to {offer.provider}."
            is_typed = offer.name not in self._offers
            dialog = ConfirmDialog(f"Use {offer.name}? {sent}", offer.note, yes="Use", is_typed=is_typed)
            if not await self.app.push_screen_wait(dialog):
                return False
        if offer.needs_test:
            say(f"Testing {offer.name} with one token… esc to cancel")
        model = await self._make_model(offer, key)
        self.post_message(ModelReleased(self._agent.model))
        self._agent.use_model(model)
        await self._offer_default(offer)
        self.finish(offer.name)
        return True

    async def _make_model(self, offer: ModelOffer, key: str) -> Model:
        """Return a model if it replies with one token. Otherwise, raise RoamtuiError, and forget its key."""
        variable = get_recommended_key_variable(offer.name)
        typed_keys = self.services.typed_keys
        model = None
        earlier_keys = dict(typed_keys)
        if key:
            typed_keys[variable] = key
        try:
            if offer.needs_test:
                trial = self.services.make_model(offer.name, offer.api_base or None, is_test=True)
                try:
                    await request_one_token(trial)
                finally:
                    await trial.close()
            model = self.services.make_model(offer.name, offer.api_base or None)
        finally:
            if model is None:
                typed_keys.clear()
                typed_keys.update(earlier_keys)
        return model

    async def _offer_default(self, offer: ModelOffer) -> None:
        question = "Make this model the default? Saves its name and URL in config.toml, never the key."
        dialog = ConfirmDialog(question, offer.name, yes="Make default", no="Just this time")
        if await self.app.push_screen_wait(dialog):
            self.save({"model": offer.name, "api_base": offer.api_base})


class ModelDialog(Dialog[None]):
    """Asks for a model's name, URL and key, until it is used. The key is only used in this run."""

    AUTO_FOCUS = "#model-name"

    def __init__(
        self, name: str, use: Callable[[str, str, str, Callable[[str], None]], Awaitable[bool]]
    ) -> None:
        """Begin with `name` in the field. `use` is `ModelPicker._use_typed`."""
        super().__init__()
        self._name = name
        self._use = use

    @override
    def compose(self) -> ComposeResult:
        fields = {
            "Name (litellm provider/model)": TextField(self._name, "openai/gpt-4.1-mini", id="model-name"),
            "URL (empty for the provider's default)": TextField("", "http://localhost:8000/v1"),
            "API key (this run only, never saved)": TextField(
                "", "optional if none is needed or one is set", password=True, id="model-key"
            ),
        }
        with Vertical():
            yield Static(Content.styled("Other model", "bold $primary"))
            for label, field in fields.items():
                field.compact = True
                field.select_on_focus = False
                yield Static(Content(label), classes="label")
                yield field
            yield self.message
            fields_hint = "tab for the next field, "
            yield make_foot("enter to test with one token", "esc to cancel", before=fields_hint)

    def on_mount(self) -> None:
        """Focus the key if the name is known."""
        if self._name:
            self.query_one("#model-key").focus()

    @on(Input.Submitted)
    @work(group="testing", exclusive=True, exit_on_error=False)
    async def action_choose(self) -> None:
        """Use the model that was typed. If that fails, the dialog stays open and says why."""
        name, url, key = (field.value.strip() for field in self.query(Input))
        if not name:
            raise UsageError("Type the name of a model, such as openai/gpt-4.1-mini.")
        if await self._use(name, url, key, self.show_message):
            self.finish(None)
