"""A person's settings: one typed struct, read from `config.toml`. A command-line flag overrides its field.

A file next to a document is never read, because a document could then choose where questions are sent.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

from roamtui.conversation.budget import KeepOpenMode
from roamtui.errors import RoamtuiError, UsageError, format_nearest_name, format_reason
from roamtui.models.options import ModelOptions
from roamtui.paths import get_config_path, make_private_folder, read_own_text, replace_file
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import RetrievalOptions

FLAGS = {
    "model": "model",
    "api_base": "api_base",
    "max_cost": "limits.max_cost_usd",
    "keep_open": "keep_open.mode",
    "mode": "retrieval.mode",
    "embedder": "retrieval.embedder",
    "index": "retrieval.index",
    "limit": "retrieval.limit",
}
"""By argument of the command line: the key in `config.toml` that it overrides."""
_NUMBER_MAX = 1_000_000_000
"""Maximum of a number in the settings. It refuses infinity and numbers that overflow."""
_EXPECTED = re.compile(r"Expected `(\w+).*?`(?: ([<>]=?) (\S+))?")
"""The message of msgspec about a wrong value: the expected type and, perhaps, its limit."""
_KINDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "a table",
    "str": "a text",
}
_LIMITS = {">=": "of at least", "<=": "of at most", ">": "above"}


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of `config.toml`."""


class LimitSettings(_Table, frozen=True):
    """`[limits]`: what a conversation may cost."""

    max_cost_usd: Annotated[float, Meta(gt=0, le=_NUMBER_MAX)] | None = None


class KeepOpenSettings(_Table, frozen=True):
    """`[keep_open]`: which sections stay open between questions."""

    mode: KeepOpenMode = KeepOpenMode.KEEP


class WebSettings(_Table, frozen=True):
    """`[web]`: sites to fetch from without asking, and the proxy's URL."""

    allow: tuple[str, ...] = ()
    proxy: str = ""


class OcrSettings(_Table, frozen=True):
    """`[ocr]`: languages of scanned pages, by their names in tesseract."""

    languages: tuple[str, ...] = ("eng",)


class ModelSettings(_Table, frozen=True):
    """Settings for all models of providers, or in `[models."NAME"]` for one."""

    window_tokens: Annotated[int, Meta(ge=1_000, le=_NUMBER_MAX)] | None = None
    output_tokens: Annotated[int, Meta(ge=1, le=_NUMBER_MAX)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    first_token_seconds: Annotated[float, Meta(ge=1, le=86_400)] | None = None
    small_model: bool | None = None


class Settings(ModelSettings, frozen=True):
    """The content of `config.toml`, overridden by the command line. docs/using.md explains each key."""

    model: str = "offline"
    api_base: str | None = None
    instructions: str = ""
    theme: str | None = None
    limits: LimitSettings = LimitSettings()
    keep_open: KeepOpenSettings = KeepOpenSettings()
    retrieval: RetrievalOptions = RetrievalOptions()
    web: WebSettings = WebSettings()
    ocr: OcrSettings = OcrSettings()
    keys: dict[str, str] = {}
    models: dict[str, ModelSettings] = {}

    def model_options(self, name: str) -> ModelOptions:
        """Return the options for a model. Its own settings override those for all models."""
        own = self.models.get(name, ModelSettings())
        values = {}
        for key in ModelSettings.__struct_fields__:
            value = getattr(own, key)
            values[key] = getattr(self, key) if value is None else value
        return ModelOptions(**values, has_spending_limit=self.limits.max_cost_usd is not None)


def list_overrides(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the overriding values by key. An empty argument, as of an unset variable, overrides nothing."""
    given = {key: arguments.get(name) for name, key in FLAGS.items()}
    return {key: value for key, value in given.items() if value not in (None, "")}


def load_settings(overrides: Mapping[str, object] | None = None, *, path: Path | None = None) -> Settings:
    """Load the settings from a file, or the defaults if it is missing.

    An empty string counts as not set, but in the table `keys` it means that an action has no key. `overrides`
    has values from the command line by key, such as ``limits.max_cost_usd``.

    Raises:
        UsageError: The file cannot be read, is not valid TOML, or has an unknown key or an invalid value.
    """
    path = path or get_config_path()
    try:
        written = tomllib.loads(read_own_text(path))
        table = _drop_empty(written)
        if "keys" in written:
            table["keys"] = written["keys"]
    except (FileNotFoundError, NotADirectoryError):
        table = {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"could not read {path}: {format_reason(error)}. Fix or delete it.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}. Fix or delete it.") from None
    settings = _convert(table, str(path)) if table else Settings()
    if not overrides:
        return settings
    for key, value in overrides.items():
        *parents, name = key.split(".")
        inner = table
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[name] = value
    return _convert(table, "command line")


def _drop_empty(table: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _drop_empty(value) if isinstance(value, dict) else value
        for key, value in table.items()
        if value != ""
    }


def _convert(table: dict[str, Any], origin: str) -> Settings:
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(f"{origin}: {_explain(error, table)}") from None


def list_key_types(table: type[msgspec.Struct] = Settings, prefix: str = "") -> dict[str, Any]:
    """Return the types of all keys of `config.toml` by their full names, without those for single models."""
    keys: dict[str, Any] = {}
    for field in msgspec.structs.fields(table):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            keys |= list_key_types(field.type, f"{prefix}{field.name}.")
        else:
            keys[prefix + field.name] = field.type
    return keys


def _explain(error: msgspec.ValidationError, table: dict[str, Any]) -> str:
    """Return a sentence that says what is wrong with a key, with the nearest name."""
    problem, _, place = str(error).partition(" - at `$.")
    place = place.removesuffix("`")
    if "[...]" in place:
        place = place.replace("[...]", f".{json.dumps(_get_wrong_name(table, place))}")
    keys = list_key_types()
    hint = ""
    if unknown := re.search("unknown field `(.*)`", problem, re.DOTALL):
        if place.startswith("models."):
            names = [*ModelSettings.__struct_fields__]
            wanted = unknown[1]
        else:
            names = [*keys, *Settings.__struct_fields__]
            wanted = ".".join(filter(None, (place, unknown[1])))
        # the person may have left out the table of the key
        complete = next((key for key in names if key.endswith(f".{wanted}")), wanted)
        hint = format_nearest_name(complete, names)
        sentence = f'there is no setting "{sanitise_line(wanted)}"'
    elif problem.startswith("Invalid enum value"):
        kind = keys[place]
        choices = list(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else get_args(kind)
        hint = format_nearest_name(problem.removeprefix("Invalid enum value ").strip("'"), choices)
        sentence = f"{place} must be one of {', '.join(choices)}"
    elif expected := _EXPECTED.match(problem):
        kind, sign, number = expected.groups("")
        limit = f" {_LIMITS[sign]} {number.removesuffix('.0')}" if sign else ""
        sentence = f"{place} must be {_KINDS[kind]}{limit}"
    else:  # a number that overflows
        sentence = f"{place} has a value that cannot be used"
    return f"{sentence}.{hint}"


def _get_wrong_name(table: dict[str, Any], place: str) -> str:
    key, kind = ("keys", str) if place.startswith("keys") else ("models", ModelSettings)
    for name, value in table[key].items():
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            return str(name)
    raise AssertionError(place)


def save_settings(path: Path, values: Mapping[str, str]) -> None:
    """Set top-level keys in the settings file. Comments, order and everything else stay as they are.

    An empty value clears a key of the file. If the file has no such key, none is added.

    Raises:
        RoamtuiError: The file cannot be read or written, or is not valid TOML.
    """
    import tomlkit  # noqa: PLC0415 - only needed to write

    lines = {key: f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()}
    try:
        target = path.resolve()
        old_text = target.read_bytes().decode("utf-8-sig") if target.exists() else ""
        document = tomlkit.parse(old_text)
        new = [line for key, line in lines.items() if values[key] and key not in document]
        for key in values.keys() & document.keys():
            document[key] = values[key]
        ending = "\r\n" if "\r\n" in old_text else "\n"
        # At the top: tomlkit would put a new key between the first table and the comment above the table.
        new_text = "".join(line + ending for line in new) + tomlkit.dumps(document)
        make_private_folder(target.parent)
        replace_file(target, new_text.encode("utf-8"))
    except tomlkit.exceptions.TOMLKitError:
        added = " and ".join(lines.values())
        raise RoamtuiError(
            f"{path} is not valid TOML, so it was not changed. "
            f"To save this choice, correct it, and add {added} yourself."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = format_reason(error)
        raise RoamtuiError(f"Could not save the setting in {path}: {reason}.") from None
