"""Declares options as fields of frozen classes: each with its key in `config.toml`, its flag and its help.

The arguments of the app, and those that several commands share, are here too. Start-up imports this module.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

ABOVE_ZERO = math.ulp(0.0)
"""Lower limit of an option that must be positive."""


class OptionError(ValueError):
    """A value is invalid. The message continues a sentence that begins with the option's name: "must be …"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option: its key in `config.toml`, its flag, its help and the values that it allows."""

    help: str
    default: Any
    kind: type[Any]
    """`int`, `float`, `bool`, `str`, `Path`, `tuple` of strings, or an enumeration of the choices."""
    name: str = ""
    """Name on the command line: `--model`, or `SOURCE` for a positional argument. Empty for `config.toml` only."""
    key: str = ""
    """Key in `config.toml`, such as `limits.max_cost_usd`. Empty if the field's name is the key."""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    nargs: str = ""
    """`?`, `*` or `+`. Empty if exactly one value is expected."""
    exclusive_group: str = ""
    """Flags with the same group name exclude each other."""
    low: float = 0
    """Minimum, inclusive."""
    high: float = math.inf
    """Maximum, inclusive."""

    def from_toml(self, value: object) -> Any:  # noqa: ANN401 - as the field is declared
        """Convert a value from a TOML file.

        Raises:
            OptionError: The value is not allowed.
        """
        if self.choices:
            if value not in self.choices:
                raise OptionError(f"must be one of {', '.join(self.choices)}")
            return self.kind(value)
        if self.kind in (int, float):
            is_number = isinstance(value, int) or (self.kind is float and isinstance(value, float))
            if not is_number or isinstance(value, bool) or not self.low <= value <= self.high or value == math.inf:  # type: ignore[operator]
                raise OptionError(f"must be {self._describe_numbers()}")
            return self.kind(value)
        if self.kind is tuple:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise OptionError("must be a list of quoted strings")
            return tuple(value)
        if not isinstance(value, self.kind) or value == "":
            raise OptionError("must be true or false" if self.kind is bool else "must be a quoted string")
        return value

    def from_argument(self, text: str) -> Any:  # noqa: ANN401 - as the field is declared
        """Convert a value from the command line.

        Raises:
            OptionError: The value is not allowed.
        """
        if self.choices or self.kind is tuple:
            return self.from_toml(text) if self.choices else text
        try:
            value = self.kind(text)
        except ValueError:
            raise OptionError(f"must be {self._describe_numbers()}") from None
        return self.from_toml(value) if self.kind in (int, float) else value

    def _describe_numbers(self) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        if self.low == ABOVE_ZERO:
            return f"{noun} above 0"
        if self.high == math.inf:
            return f"{noun} of {self.low:g} or more"
        return f"{noun} from {self.low:g} to {self.high:g}"


def option(
    default: Any,  # noqa: ANN401 - as the field is declared
    help: str,  # noqa: A002 - as argparse has it
    *,
    kind: type[Any] | None = None,
    **declared: Any,  # noqa: ANN401 - as `Option` declares them
) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare an option as a field. `declared` sets fields of `Option`. The default `...` makes a value required."""
    kind = kind or (str if default is ... or default is None else type(default))
    declared.setdefault("metavar", _METAVARS.get(kind, ""))
    if issubclass(kind, StrEnum):
        declared["choices"] = tuple(kind)
    metadata = {"option": Option(help=help, default=default, kind=kind, **declared)}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


_METAVARS: Mapping[type, str] = {int: "N", float: "X", str: "S"}


def list_options(kind: type[Any]) -> Mapping[str, Option]:
    """Return the options of a class by the names of their fields."""
    return {member.name: member.metadata["option"] for member in fields(kind) if "option" in member.metadata}


def add_argument_group(kind: type[Any]) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare a field that contains arguments which several commands share: the fields of `kind`."""
    return field(default_factory=kind, metadata={"part": kind})


def declare_overrides(*names: str) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare a field for flags that override settings. `names` are fields of `Settings`.

    The field holds the values of the flags that were given, by name. Search settings are in a mapping under `SEARCH`.
    """
    return field(default_factory=dict, metadata={"settings": names})


class ImageMode(StrEnum):
    """How pictures are drawn."""

    AUTO = "auto"
    """As kitty's placeholders where they are known to work, else as half cells if there are enough colours."""
    CELLS = "cells"
    """As half cells, each with one colour."""
    KITTY = "kitty"
    """As kitty's placeholders."""
    OFF = "off"


_KINDS = "Markdown, text, PDF, HTML, EPUB, Office and OpenDocument files, Jupyter notebooks, subtitles"
SOURCE_HELP = (
    f"a document ({_KINDS}), a folder or a zip of documents, the https:// address of a site, its llms.txt or a page, "
    "or - for standard input"
)
FILES_HELP = (
    f"documents ({_KINDS}), folders or zips of documents, opened as one; or the https:// address of a site, its "
    "llms.txt or a page"
)
JSON_HELP = "as JSON, for other programs"
PLAIN_HELP = "plain text, for screen readers and simple terminals"
SEARCH = "retrieval"
"""Name of the search settings in `declare_overrides`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebArguments:
    """Options for reading sources: fetching from the web, and scanned pages."""

    is_offline: bool = option(False, "use cached pages only", name="--no-network")
    allowed_origins: tuple[str, ...] = option(
        (), "also fetch from this site without asking (repeatable)", name="--allow-origin", metavar="URL"
    )
    """Sites from which pages may be fetched without asking, in addition to the source's own site."""
    reads_scans: bool = option(False, "read scanned pages of PDFs by tesseract, which must be installed", name="--ocr")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationArguments:
    """Which conversation to resume, and where to log it."""

    resume_latest: bool = option(
        False, "resume the latest conversation", name="--continue", exclusive_group="conversation"
    )
    conversation_id: str | None = option(
        None, "resume this conversation", name="--conversation", metavar="ID", exclusive_group="conversation"
    )
    trace_file: str | None = option(
        None, "log every event to FILE; replay with --model recorded:FILE", name="--trace", metavar="FILE"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppArguments:
    """Open a document in the app."""

    sources: tuple[str, ...] = option((), f"{FILES_HELP}, or - for standard input", name="SOURCE", nargs="*")
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = add_argument_group(ConversationArguments)
    is_plain: bool = option(False, PLAIN_HELP, name="--plain")
    is_watching: bool = option(False, "reload the document when it changes on disk", name="--watch")


def decode_argument(text: str) -> str:
    """Return an argument as text. Bytes that the locale cannot decode are read as UTF-8, or replaced."""
    return os.fsencode(text).decode("utf-8", "replace")
