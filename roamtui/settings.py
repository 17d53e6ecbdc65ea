"""A person's settings: one TOML file in their configuration folder, never one beside a document.

A document must not choose where questions are sent.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from roamtui.agent.start_mode import ConfidentStart
from roamtui.conversation.state import KeepOpen, KeepOptions
from roamtui.errors import UsageError
from roamtui.locations import config_path
from roamtui.models.options import MODEL_SETTINGS, ModelOptions, read_model_settings
from roamtui.search.options import SPECS, OptionError, RetrievalOptions, read_option

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from pathlib import Path

_TOP = {"model", "api_base", "theme", *MODEL_SETTINGS}
_TABLES = {"models", "keep_open", "retrieval", "agent", "limits", "keys", "web"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `config.toml` may hold; a command-line option goes before it."""

    model: str = "offline"
    api_base: str | None = None
    for_models: Mapping[str, object] = field(default_factory=dict)
    """What is set for all models of providers, by field of `ModelOptions`."""
    by_model: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What is set for one of them, by its name; it goes before what is set for all."""
    theme: str | None = None
    keep_open: KeepOpen = KeepOpen.KEEP
    open_tokens: int | None = None
    """Tokens of section text that may stay open; None takes a share of the model's window."""
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    max_cost_usd: float | None = None
    """What a conversation may cost before the person is asked; None for no cap."""
    confident_start: ConfidentStart = ConfidentStart.REMOTE
    allowed_origins: tuple[str, ...] = ()
    """Addresses of sites that pages may be fetched from without asking."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys of actions that the person bound anew, by action id."""
    notes: tuple[str, ...] = ()
    """What the file holds that means nothing to this version, and was passed over; to be told once."""

    def model_options(self, name: str, *, has_spending_cap: bool = False) -> ModelOptions:
        """Return how a model is asked.

        Args:
            name: As it is given to `--model`.
            has_spending_cap: Whether the conversation may cost only so much.
        """
        values: dict[str, Any] = {**self.for_models, **self.by_model.get(name, {})}
        return ModelOptions(**values, has_spending_cap=has_spending_cap)

    def retrieve_with(self, given: Mapping[str, object]) -> Settings:
        """Return settings in which what the command line says about search goes before the file.

        Args:
            given: Values by option.

        Raises:
            UsageError: Options do not go together.
        """
        values: dict[str, Any] = dict(given)
        retrieval = replace(self.retrieval, **values)
        retrieval.check()
        return replace(self, retrieval=retrieval)

    def keep_options(self, mode: KeepOpen | None) -> KeepOptions:
        """Return how much may stay open: what the person set, else a share of the window of the model that is asked.

        Args:
            mode: What the command line says, None for nothing.
        """
        mode = mode or self.keep_open
        if self.open_tokens is None:
            return KeepOptions(mode=mode, follows_window=True)
        return KeepOptions(mode=mode, budget_tokens=self.open_tokens)

    def cost_cap(self, given_usd: float | None) -> float | None:
        """Return what a conversation may cost before the person is asked, None for no cap.

        Args:
            given_usd: What the command line says, None for nothing.
        """
        return self.max_cost_usd if given_usd is None else given_usd


def load_settings(path: Path | None = None) -> Settings:
    """Return the settings of a file; those of an absent one are the defaults.

    A key that means nothing, as one of an older version, is passed over and noted.

    Raises:
        UsageError: It cannot be read, is no TOML or holds a value that means nothing; the message names it.
    """
    path = path or config_path()
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Repair or delete it.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}. Repair or delete it.") from None
    return _Reader(path, table).read()


@dataclass(frozen=True, slots=True)
class _Reader:
    path: Path
    table: Mapping[str, object]
    unknown: list[str] = field(default_factory=list)
    """Keys that were passed over."""

    def read(self) -> Settings:
        self._note_unknown(self.table, _TABLES | _TOP, "")
        keep_open = self._table("keep_open")
        self._note_unknown(keep_open, {"mode", "tokens"}, "keep_open.")
        agent = self._table("agent")
        self._note_unknown(agent, {"confident_start"}, "agent.")
        limits = self._table("limits")
        self._note_unknown(limits, {"max_cost_usd"}, "limits.")
        by_model = {name: self._of_model(name) for name in self._table("models")}
        retrieval = self._retrieval()
        allowed_origins = self._addresses()
        return Settings(
            model=self._text(self.table, "model") or "offline",
            api_base=self._text(self.table, "api_base"),
            for_models=self._model_settings(self.table, ""),
            by_model=by_model,
            theme=self._text(self.table, "theme"),
            keep_open=KeepOpen(self._choice(keep_open, "mode", [mode.value for mode in KeepOpen], "keep_open.")),
            open_tokens=self._number(keep_open, "tokens", "keep_open."),
            retrieval=retrieval,
            max_cost_usd=self._amount(limits, "max_cost_usd", "limits."),
            confident_start=ConfidentStart(self._choice(agent, "confident_start", list(ConfidentStart), "agent.")),
            allowed_origins=allowed_origins,
            keys={key: self._key(key, value) for key, value in self._table("keys").items()},
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        if not self.unknown:
            return ()
        names = ", ".join(f'"{name}"' for name in self.unknown)
        is_one = len(self.unknown) == 1
        return (f"{self.path}: {names} {'is no setting' if is_one else 'are no settings'} and passed over.",)

    def _of_model(self, name: str) -> dict[str, Any]:
        table = self._table("models").get(name)
        prefix = f'models."{name}".'
        if not isinstance(table, dict):
            raise UsageError(f'{self.path}: [models."{name}"] must be a table.')
        self._note_unknown(table, MODEL_SETTINGS, prefix)
        return self._model_settings(table, prefix)

    def _model_settings(self, table: Mapping[str, object], prefix: str) -> dict[str, Any]:
        try:
            return read_model_settings(table)
        except ValueError as error:
            raise UsageError(f"{self.path}: {prefix}{error}.") from None

    def _addresses(self) -> tuple[str, ...]:
        table = self._table("web")
        self._note_unknown(table, {"allow"}, "web.")
        value = table.get("allow", [])
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise UsageError(f'{self.path}: web.allow must be a list of addresses, such as ["https://example.com"].')

    def _retrieval(self) -> RetrievalOptions:
        table = self._table("retrieval")
        self._note_unknown(table, SPECS.keys(), "retrieval.")
        values: dict[str, Any] = {}
        for name, value in table.items():
            if name not in SPECS:
                continue
            try:
                values[name] = read_option(name, value)
            except OptionError as error:
                raise UsageError(f"{self.path}: retrieval.{name} {error}.") from None
        return RetrievalOptions(**values)

    def _note_unknown(self, table: Mapping[str, object], known: Container[str], prefix: str) -> None:
        self.unknown.extend(prefix + key for key in table if key not in known)

    def _table(self, key: str) -> Mapping[str, object]:
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            raise UsageError(f"{self.path}: [{key}] must be a table.")
        return value

    def _text(self, table: Mapping[str, object], key: str) -> str | None:
        value = table.get(key)
        if value is None or isinstance(value, str):
            return value
        raise UsageError(f"{self.path}: {key} must be text in quotation marks.")

    def _choice(self, table: Mapping[str, object], key: str, choices: list[str], prefix: str) -> str:
        value = table.get(key, choices[0])
        if isinstance(value, str) and value in choices:
            return value
        raise UsageError(f"{self.path}: {prefix}{key} must be one of {', '.join(choices)}.")

    def _number(self, table: Mapping[str, object], key: str, prefix: str) -> int | None:
        value = table.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        raise UsageError(f"{self.path}: {prefix}{key} must be a whole number above 0.")

    def _amount(self, table: Mapping[str, object], key: str, prefix: str) -> float | None:
        value = table.get(key)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
            return float(value)
        raise UsageError(f"{self.path}: {prefix}{key} must be a number above 0.")

    def _key(self, key: str, value: object) -> str:
        if isinstance(value, str) and value:
            return value
        raise UsageError(f'{self.path}: keys.{key} must be a key name in quotation marks, such as "ctrl+k".')
