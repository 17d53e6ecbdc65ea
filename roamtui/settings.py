"""A person's settings: one TOML file in their configuration folder, never one beside a document.

A document must not choose where questions are sent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from roamtui.agent.options import RetrievalStart
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions
from roamtui.errors import RoamtuiError, UsageError
from roamtui.models.options import ModelOptions
from roamtui.option_fields import ABOVE_ZERO, OptionError, list_options, option
from roamtui.paths import config_path, make_private_folder, write_private_file
from roamtui.search.options import RetrievalOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `config.toml` may hold. What the command line says goes before it."""

    model: str = option(
        "offline", '"offline", or a litellm name such as openai/gpt-4.1-mini', name="--model", metavar="M"
    )
    api_base: str | None = option(None, "address of the model's server", name="--api-base", metavar="URL")
    max_cost_usd: float | None = option(
        None,
        "what the conversation may cost before you are asked",
        kind=float,
        name="--max-cost",
        metavar="USD",
        key="limits.max_cost_usd",
        low=ABOVE_ZERO,
    )
    keep_open: KeepOpenMode = option(
        KeepOpenMode.KEEP, "what happens to open sections between questions", name="--keep-open", key="keep_open.mode"
    )
    open_tokens: int | None = option(
        None,
        "tokens of section text that may stay open, else a share of the window",
        kind=int,
        key="keep_open.tokens",
        low=1,
    )
    confident_start: RetrievalStart = option(
        RetrievalStart.REMOTE, "when a question brings what search finds", key="agent.confident_start"
    )
    outline_tokens: int | None = option(None, "tokens of the outline that the model reads, about", kind=int, low=200)
    allowed_origins: tuple[str, ...] = option(
        (), "addresses of sites that pages may be fetched from without asking", key="web.allow"
    )
    theme: str | None = option(None, "how the app looks")
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    model_defaults: Mapping[str, Any] = field(default_factory=dict)
    """What is set for all models of providers, by field of `ModelOptions`."""
    options_by_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What is set for one of them, by its name; it goes before what is set for all."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Keys of actions that the person bound anew, by action id."""
    warnings: tuple[str, ...] = ()
    """What the file holds that means nothing to this version, and was passed over; to be told once."""

    def model_options(self, name: str) -> ModelOptions:
        """Return how a model of a name is asked."""
        values = {**self.model_defaults, **self.options_by_model.get(name, {})}
        return ModelOptions(**values, has_spending_cap=self.max_cost_usd is not None)

    def keep_options(self) -> OpenSectionOptions:
        """Return how much may stay open: what the person set, else a share of the window of the model that is asked."""
        if self.open_tokens is None:
            return OpenSectionOptions(mode=self.keep_open, follows_window=True)
        return OpenSectionOptions(mode=self.keep_open, budget_tokens=self.open_tokens)


def load_settings(given: Mapping[str, Any] | None = None, *, path: Path | None = None) -> Settings:
    """Return the settings of a file; those of an absent one are the defaults.

    A key that means nothing, as one of an older version, is passed over and noted.

    Args:
        given: What the command line says, by field; options of search in a mapping of their own.
        path: The file, None for the usual one.

    Raises:
        UsageError: It cannot be read, is no TOML or holds a value that means nothing, or options of search do not go
            together; the message names what.
    """
    path, given = path or config_path(), given or {}
    try:
        settings = _SettingsReader(path, tomllib.loads(path.read_text("utf-8"))).read()
    except (FileNotFoundError, NotADirectoryError):
        settings = Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Repair or delete it.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}. Repair or delete it.") from None
    retrieval = replace(settings.retrieval, **given.get("retrieval", {}))
    retrieval.check()
    return replace(settings, **{**given, "retrieval": retrieval})


@dataclass(frozen=True, slots=True)
class _SettingsReader:
    path: Path
    table: Mapping[str, Any]
    known: set[str] = field(default_factory=set)
    """Places of all that was looked for."""

    def read(self) -> Settings:
        settings = Settings(
            **self._options(Settings, self.table),
            retrieval=RetrievalOptions(**self._options(RetrievalOptions, self._table("retrieval"), "retrieval.")),
            model_defaults=self._options(ModelOptions, self.table),
            options_by_model={
                name: self._options(ModelOptions, self._table("models", name), f'models."{name}".')
                for name in self._table("models")
            },
            keys={key: self._key(key, value) for key, value in self._table("keys").items()},
        )
        unknown = [f'"{place}"' for place in self._list_unknown(self.table, "")]
        verb = "is no setting" if len(unknown) == 1 else "are no settings"
        note = f"{self.path}: {', '.join(unknown)} {verb} and passed over."
        return replace(settings, warnings=(note,) if unknown else ())

    def _options(self, kind: type[Any], table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        """Return what a table says of the fields of a class; an empty text is as if it did not stand there."""
        values: dict[str, Any] = {}
        for name, declared in list_options(kind).items():
            place = declared.key or name
            folder, _, key = place.rpartition(".")
            value = (self._table(folder) if folder else table).get(key, "")
            self.known.add(prefix + place)
            try:
                if value != "":
                    values[name] = declared.from_toml(value)
            except OptionError as error:
                raise UsageError(f"{self.path}: {prefix}{place} {error}.") from None
        return values

    def _table(self, *names: str) -> Mapping[str, Any]:
        table: object = self.table
        for name in names:
            table = table.get(name, {}) if isinstance(table, dict) else table
        if not isinstance(table, dict):
            place = ".".join((names[0], *(f'"{name}"' for name in names[1:])))
            raise UsageError(f"{self.path}: [{place}] must be a table.")
        return table

    def _key(self, key: str, value: object) -> str:
        self.known.add("keys")
        if isinstance(value, str) and value:
            return value
        raise UsageError(f'{self.path}: keys.{key} must be a key name in quotation marks, such as "ctrl+k".')

    def _list_unknown(self, table: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for key, value in table.items():
            place = f'{prefix}"{key}"' if prefix == "models." else prefix + key
            if place in self.known:
                continue
            if isinstance(value, dict) and any(known.startswith(f"{place}.") for known in self.known):
                yield from self._list_unknown(value, f"{place}.")
            elif value != {}:
                yield place


def save_setting(path: Path, key: str, value: str) -> None:
    """Set a key outside all tables of a person's file to a text; comments, order and all else stay as they are.

    The new file takes the old one's place whole, and its owner alone can read it.

    Raises:
        RoamtuiError: It cannot be read or written, or is no TOML.
    """
    import json  # noqa: PLC0415 - to write alone

    import tomlkit  # noqa: PLC0415 - likewise

    line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
    try:
        target = path.resolve()
        before = target.read_bytes().decode("utf-8") if target.exists() else ""
        document = tomlkit.parse(before)
        if key in document:
            document[key] = value
            after = tomlkit.dumps(document)
        else:  # tomlkit would put it between the first table and the comment above that
            after = line + ("\r\n" if "\r\n" in before else "\n") + before
        make_private_folder(target.parent)
        write_private_file(target, after.encode("utf-8"), is_flushed=True)
    except tomlkit.exceptions.TOMLKitError:
        raise RoamtuiError(f"{path} was left as it is. To keep this choice, put {line} there yourself.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RoamtuiError(f"The choice is not kept: {path}: {reason}.") from None
