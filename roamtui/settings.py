"""A person's settings: a TOML file in their configuration folder.

A file next to a document is never read, because a document could then choose where questions are sent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from roamtui.agent.options import RetrievalStart
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions
from roamtui.errors import RoamtuiError, UsageError, format_reason
from roamtui.models.options import ModelOptions
from roamtui.option_fields import ABOVE_ZERO, ImageMode, OptionError, list_options, option
from roamtui.paths import config_path, make_private_folder, write_private_file
from roamtui.search.options import RetrievalOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The content of `config.toml`, overridden by the command line."""

    model: str = option(
        "offline", '"offline", or a litellm name such as openai/gpt-4.1-mini', name="--model", metavar="M"
    )
    instructions: str = option("", "how you want to be answered: language, style, what you mean by a term")
    api_base: str | None = option(None, "address of the model's server", name="--api-base", metavar="URL")
    max_cost_usd: float | None = option(
        None,
        "ask before a conversation costs more than this",
        kind=float,
        name="--max-cost",
        metavar="USD",
        key="limits.max_cost_usd",
        low=ABOVE_ZERO,
    )
    keep_open: KeepOpenMode = option(
        KeepOpenMode.KEEP, "which sections stay open between questions", name="--keep-open", key="keep_open.mode"
    )
    open_tokens: int | None = option(
        None,
        "token budget for open sections (default: a share of the context window)",
        kind=int,
        key="keep_open.tokens",
        low=1,
    )
    confident_start: RetrievalStart = option(
        RetrievalStart.REMOTE, "when to send search results with a question", key="agent.confident_start"
    )
    outline_tokens: int | None = option(None, "approximate size of the outline in tokens", kind=int, low=200)
    allowed_origins: tuple[str, ...] = option((), "sites to fetch from without asking", key="web.allow")
    ocr_languages: tuple[str, ...] = option(
        ("eng",), "languages of scanned pages, by their names in tesseract", key="ocr.languages"
    )
    theme: str | None = option(None, "colour theme")
    images: ImageMode = option(ImageMode.AUTO, "how the reader draws pictures")
    retrieval: RetrievalOptions = field(default_factory=RetrievalOptions)
    model_defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options for all provider models, by field of `ModelOptions`."""
    options_by_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options for single models, by name. They override `model_defaults`."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Key bindings of the person, by action id."""
    warnings: tuple[str, ...] = ()
    """Notices to show once, for instance about unknown keys."""

    def model_options(self, name: str) -> ModelOptions:
        """Return the options for a model."""
        values = {**self.model_defaults, **self.options_by_model.get(name, {})}
        return ModelOptions(**values, has_spending_cap=self.max_cost_usd is not None)

    def open_section_options(self) -> OpenSectionOptions:
        """Return the budget for open sections: the person's, or if none is set, a share of the context window."""
        if self.open_tokens is None:
            return OpenSectionOptions(mode=self.keep_open, follows_window=True)
        return OpenSectionOptions(mode=self.keep_open, budget_tokens=self.open_tokens)


def load_settings(overrides: Mapping[str, Any] | None = None, *, path: Path | None = None) -> Settings:
    """Load the settings from a file. If it is missing, use the defaults.

    Unknown keys, for instance of an older version, are ignored with a warning.

    Args:
        overrides: Values from the command line, by field. Those of `retrieval` are in a nested mapping.
        path: The file, by default `config_path()`.

    Raises:
        UsageError: The file cannot be read, is not valid TOML or contains an invalid value, or search options
            contradict each other.
    """
    path, overrides = path or config_path(), overrides or {}
    try:
        settings = _SettingsReader(path, tomllib.loads(path.read_text("utf-8"))).read()
    except (FileNotFoundError, NotADirectoryError):
        settings = Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"could not read {path}: {error}. Fix or delete it.") from None
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}. Fix or delete it.") from None
    retrieval = replace(settings.retrieval, **overrides.get("retrieval", {}))
    retrieval.check()
    return replace(settings, **{**overrides, "retrieval": retrieval})


def load_settings_and_warn(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Load the settings from `config_path()`, and write their warnings to stderr.

    Raises:
        UsageError: As in `load_settings`.
    """
    from roamtui.headless.output import write_notices  # noqa: PLC0415 - the app shows the warnings itself

    settings = load_settings(overrides)
    write_notices(settings.warnings)
    return settings


@dataclass(frozen=True, slots=True)
class _SettingsReader:
    path: Path
    table: Mapping[str, Any]
    known_keys: set[str] = field(default_factory=set)
    """All keys that the program knows, collected while it reads."""

    def read(self) -> Settings:
        settings = Settings(
            **self._read_options(Settings, self.table),
            retrieval=RetrievalOptions(
                **self._read_options(RetrievalOptions, self._get_table("retrieval"), "retrieval.")
            ),
            model_defaults=self._read_options(ModelOptions, self.table),
            options_by_model={
                name: self._read_options(ModelOptions, self._get_table("models", name), f'models."{name}".')
                for name in self._get_table("models")
            },
            keys={key: self._read_key(key, value) for key, value in self._get_table("keys").items()},
        )
        unknown = [f'"{key}"' for key in self._list_unknown(self.table, "")]
        verb = "is not a known setting" if len(unknown) == 1 else "are not known settings"
        note = f"{self.path}: {', '.join(unknown)} {verb}; ignored."
        return replace(settings, warnings=(note,) if unknown else ())

    def _read_options(self, kind: type[Any], table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        # An empty string counts as not set.
        values: dict[str, Any] = {}
        for name, declared in list_options(kind).items():
            full_key = declared.key or name
            table_name, _, key = full_key.rpartition(".")
            value = (self._get_table(table_name) if table_name else table).get(key, "")
            self.known_keys.add(prefix + full_key)
            try:
                if value != "":
                    values[name] = declared.from_toml(value)
            except OptionError as error:
                raise UsageError(f"{self.path}: {prefix}{full_key} {error}.") from None
        return values

    def _get_table(self, *names: str) -> Mapping[str, Any]:
        table: object = self.table
        for name in names:
            table = table.get(name, {}) if isinstance(table, dict) else table
        if not isinstance(table, dict):
            full_key = ".".join((names[0], *(f'"{name}"' for name in names[1:])))
            raise UsageError(f"{self.path}: [{full_key}] must be a table.")
        return table

    def _read_key(self, key: str, value: object) -> str:
        self.known_keys.add("keys")
        if isinstance(value, str) and value:
            return value
        raise UsageError(f'{self.path}: keys.{key} must be a quoted key name, such as "ctrl+k".')

    def _list_unknown(self, table: Mapping[str, Any], prefix: str) -> Iterator[str]:
        for key, value in table.items():
            full_key = f'{prefix}"{key}"' if prefix == "models." else prefix + key
            if full_key in self.known_keys:
                continue
            if isinstance(value, dict) and any(known.startswith(f"{full_key}.") for known in self.known_keys):
                yield from self._list_unknown(value, f"{full_key}.")
            elif value != {}:
                yield full_key


def save_settings(path: Path, values: Mapping[str, str]) -> None:
    """Set top-level keys in the settings file. Comments, order and everything else stay as they are.

    The file is replaced atomically, so that a model is never saved with another one's URL, and only its owner can read
    it. An empty value clears a key of the file. If the file has no such key, none is added.

    Raises:
        RoamtuiError: The file cannot be read or written, or is not valid TOML.
    """
    import json  # noqa: PLC0415 - only needed to write

    import tomlkit  # noqa: PLC0415 - only needed to write

    lines = {key: f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()}
    try:
        target = path.resolve()
        old_text = target.read_bytes().decode("utf-8") if target.exists() else ""
        document = tomlkit.parse(old_text)
        new = [line for key, line in lines.items() if values[key] and key not in document]
        for key in values.keys() & document.keys():
            document[key] = values[key]
        ending = "\r\n" if "\r\n" in old_text else "\n"
        # At the top: tomlkit would put a new key between the first table and the comment above the table.
        new_text = "".join(line + ending for line in new) + tomlkit.dumps(document)
        make_private_folder(target.parent)
        write_private_file(target, new_text.encode("utf-8"), is_flushed=True)
    except tomlkit.exceptions.TOMLKitError:
        added = " and ".join(lines.values())
        raise RoamtuiError(f"{path} was not changed. To save this choice, add {added} yourself.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = format_reason(error)
        raise RoamtuiError(f"Could not save the setting: {path}: {reason}.") from None
