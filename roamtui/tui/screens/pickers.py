"""The dialogs to choose a theme or a model. The choice may be saved for the next start."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from textual import events, on, work
from textual.app import App
from textual.screen import ScreenResultType
from typing_extensions import override

from roamtui.errors import ModelError, RoamtuiError
from roamtui.models.base import Model, format_window, replace_flags
from roamtui.models.discovery import ModelOffer, inspect_providers, request_one_token
from roamtui.models.providers import PROVIDERS
from roamtui.models.registry import is_model_name
from roamtui.tui.context import DocumentSession, Services
from roamtui.tui.screens.dialogs import ConfirmDialog, KeyHints, make_foot
from roamtui.tui.screens.lists import ListDialog, PickerItem, Row, lay_out_columns

_READY_GROUP = "Ready"
_MISSING_KEY_GROUP = "Needs an API key"


def _make_choice(name: str, note: str, group: str, sign: str = "") -> PickerItem[str]:
    return PickerItem(value=name, label=name, note=note, group=group, sign=sign)


class PickerDialog(ListDialog[str, ScreenResultType]):
    """Lets a person choose a value."""

    def __init__(
        self,
        title: str,
        choices: Sequence[PickerItem[str]],
        current: str,
        services: Services,
        foot: KeyHints,
        placeholder: str = "Type to filter",
    ) -> None:
        """Offer `choices`, with the cursor on the value `current`. `foot` names the keys."""
        super().__init__(title, foot, placeholder=placeholder, current=current)
        self.choices = choices
        self.services = services

    @override
    def list_rows(self, typed: str) -> Iterable[Row[str]]:
        return lay_out_columns(self.choices, typed, self.list.line_width)

    def save(self, settings: Mapping[str, str]) -> None:
        """Save settings for the next start. If that fails, tell the person why."""
        try:
            self.services.save_settings(settings)
        except RoamtuiError as error:
            self.app.notify(str(error), severity="error", markup=False)


class ThemeDialog(PickerDialog[None]):
    """Lets a person choose a theme. The app uses the theme under the cursor as a preview."""

    def __init__(self, app: App[None], services: Services) -> None:
        """List the themes of `app`."""
        self._original = app.theme
        choices = [
            _make_choice(name, "dark" if theme.dark else "light", "", "●" if name == self._original else "")
            for name, theme in sorted(app.available_themes.items())
        ]
        foot = make_foot("enter to choose", "esc to cancel")
        super().__init__("Theme", choices, self._original, services, foot)

    @override
    def preview(self, item: str) -> None:
        self.app.theme = item

    @override
    def choose(self, item: str) -> None:
        self.dismiss(None)
        self.app.theme = item
        if item != self._original:
            self.save({"theme": item})

    @override
    def action_leave(self) -> None:
        self.dismiss(None)
        self.app.theme = self._original


class ModelDialog(PickerDialog[Model | None]):
    """Lists models, and tests the chosen one. The result is a model to use in place of the current one."""

    def __init__(self, session: DocumentSession) -> None:
        self._model = session.agent.model
        self._typed_server = session.options.api_base
        self._current = self._model.name
        foot = make_foot("enter to test and use", "esc to cancel", after=" · ✓ works")
        placeholder = "Type to filter, or the name of any other model"
        super().__init__("Model", (), self._current, session.options.services, foot, placeholder)
        self._offers = {offer.name: offer for offer in self.services.list_models()}
        reports = inspect_providers()
        self._missing_keys = {report.name: report.reason for report in reports if not report.is_usable}
        self.choices = self._list_choices()

    def _list_choices(self) -> tuple[PickerItem[str], ...]:
        """List the current model, then the models that work, are not tested yet, or lack a key."""
        current = self._current
        model = self._model
        note = "in use"
        if model.small_reason:
            note = f"in use, small model: {model.small_reason}"
        elif model.facts.window_tokens is not None and model.facts.window_note:
            note = f"in use, {format_window(model.facts.window_tokens)} ({model.facts.window_note})"
        choices = [_make_choice(current, note, _READY_GROUP, "●")]
        offers = [offer for offer in self._offers.values() if offer.name != current]
        for offer in sorted(offers, key=lambda offer: not offer.is_known_to_work):
            sign = "✓" if offer.is_known_to_work else ""
            choices.append(_make_choice(offer.name, offer.note, _READY_GROUP, sign))
        choices += [
            _make_choice(name, reason, _MISSING_KEY_GROUP)
            for name, reason in self._missing_keys.items()
            if name != current and name not in self._offers
        ]
        return tuple(choices)

    @on(events.Mount)
    @work(exit_on_error=False)
    async def _add_discovered(self) -> None:
        self.show_message("Looking for models on this machine…")
        offers, summary = await asyncio.to_thread(self.services.discover_models)
        self._offers |= {offer.name: offer for offer in offers}
        self.choices = self._list_choices()
        self.show()
        if not any(worker.group == "testing" and worker.is_running for worker in self.workers):
            self.show_message(summary)

    @override
    def list_rows(self, typed: str) -> Iterable[Row[str]]:
        """List the models that match, and the typed name, first if it names a provider, as in `a/b`."""
        width = self.list.line_width
        rows = lay_out_columns(self.choices, typed, width)
        if rows and (not is_model_name(typed) or typed in {row.item for row in rows}):
            return rows
        unlisted = _make_choice(typed, "not in the list, so it is tested first", "")
        own = lay_out_columns([unlisted], "", width)
        return [*own, *rows] if "/" in typed else [*rows, *own]

    @override
    def choose(self, item: str) -> None:
        if item == self._current:
            self.dismiss(None)
        elif item in self._missing_keys and item not in self._offers:
            self.show_message(f"{item} {self._missing_keys[item]}. Set it, and start roamtui again.")
        else:
            server = self._typed_server
            provider, slash, _ = item.partition("/")
            title = PROVIDERS[provider].title if provider in PROVIDERS else provider
            receiver = urlsplit(server).netloc or server or (title if slash else "its provider")
            typed = ModelOffer(
                name=item, note="typed by you", provider=receiver, api_base=server, needs_test=True
            )
            self._use(self._offers.get(item, typed))

    @work(group="testing", exclusive=True, exit_on_error=False)
    async def _use(self, offer: ModelOffer) -> None:
        """If the person agrees and the model replies, close with it."""
        api_base = offer.api_base or None
        model = self.services.make_model(offer.name, api_base)  # this refuses invalid names
        trial = self.services.make_model(offer.name, api_base, is_test=True)
        try:
            if offer.needs_test:
                self.show_message(f"Looking up {offer.name}… esc to cancel")
                await trial.check()
                self.show_message("")
            if offer.provider:
                sent = f"Your questions, the outline and the text it reads will be sent to {offer.provider}."
                dialog = ConfirmDialog(f"Use {offer.name}? {sent}", offer.note, yes="Use")
                if not await self.app.push_screen_wait(dialog):
                    return
            if offer.needs_test:
                self.show_message(f"Testing {offer.name} with one token… esc to cancel")
                await request_one_token(trial)
        except ModelError as error:
            words = replace_flags(str(error), model="this list", server="the server's URL (--api-base)")
            self.show_message(words, is_problem=True)
            return
        finally:
            await trial.close()
        question = "Make this model the default? Saves its name and URL in config.toml."
        dialog = ConfirmDialog(question, offer.name, yes="Make default", no="Just this time")
        if await self.app.push_screen_wait(dialog):
            self.save({"model": offer.name, "api_base": offer.api_base})
        self.finish(model)
