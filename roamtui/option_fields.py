"""What can be set: one field of a frozen class, which is the key in `config.toml`, the flag and its help.

Those of the app stand here, and those that several commands have; the first screen waits for this module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

ABOVE_ZERO = math.ulp(0.0)
"""As the smallest number of an option: any that is not 0."""


class OptionError(ValueError):
    """A value means nothing; the message says what it must be, to be put after the option's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What one field may be, and what a person is told of it."""

    help: str
    default: Any
    kind: type[Any]
    """`int`, `float`, `bool`, `str`, `Path`, `tuple` of texts, or an enumeration of the choices."""
    name: str = ""
    """On the command line: `--model`, or `SOURCE` for what is known by its place; empty where it is not there."""
    key: str = ""
    """Place in `config.toml`, such as `limits.max_cost_usd`; empty for the field's own name."""
    metavar: str = ""
    choices: tuple[str, ...] = ()
    nargs: str = ""
    """`?`, `*` or `+` where another number of values than one may be given."""
    exclusive_group: str = ""
    """The same word for flags of which only one may be given."""
    low: float = 0
    """Smallest number, itself included."""
    high: float = math.inf
    """Largest number, itself included."""

    def from_toml(self, value: object) -> Any:  # noqa: ANN401 - as the field is declared
        """Return a value from a TOML file as the field has it.

        Raises:
            OptionError: It is none of the values that the field may have.
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
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise OptionError("must be a list of texts in quotation marks")
            return tuple(value)
        if not isinstance(value, self.kind) or value == "":
            raise OptionError("must be true or false" if self.kind is bool else "must be text in quotation marks")
        return value

    def from_argument(self, text: str) -> Any:  # noqa: ANN401 - as the field is declared
        """Return what stands on the command line as the field has it.

        Raises:
            OptionError: It is none of the values that the field may have.
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
    **said: Any,  # noqa: ANN401 - as `Option` declares them
) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare a field of a frozen class, as `Option` says; the default is `...` where a value must be given."""
    kind = kind or (str if default is ... or default is None else type(default))
    said.setdefault("metavar", _METAVARS.get(kind, ""))
    if issubclass(kind, StrEnum):
        said["choices"] = tuple(kind)
    metadata = {"option": Option(help=help, default=default, kind=kind, **said)}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


_METAVARS: Mapping[type, str] = {int: "N", float: "X", str: "S"}


def list_options(kind: type[Any]) -> Mapping[str, Option]:
    """Return what the fields of a class may be, by field."""
    return {one.name: one.metadata["option"] for one in fields(kind) if "option" in one.metadata}


def add_argument_group(kind: type[Any]) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare a field for arguments that several commands have, which are the fields of another class."""
    return field(default_factory=kind, metadata={"part": kind})


def declare_overrides(*names: str) -> Any:  # noqa: ANN401 - as the field is declared
    """Declare a field for what flags say about settings, by field of `Settings`; it goes before the file."""
    return field(default_factory=dict, metadata={"settings": names})


SOURCE_HELP = "a document, a folder or a zip of documents, an https:// address, or - for standard input"
FILES_HELP = "documents, folders or zips of documents, opened as one; or one https:// address"
SEARCH = "retrieval"
"""The settings of search, as the name of what `settings_given` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebArguments:
    """What may be fetched from the web."""

    is_offline: bool = option(False, "show only pages that were fetched before", name="--no-network")
    allowed_origins: tuple[str, ...] = option(
        (), "fetch pages from this site too without asking; may be given again", name="--allow-origin", metavar="URL"
    )
    """Addresses whose sites pages may be fetched from without asking, besides that of the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationArguments:
    """Which conversation goes on, and where all of it is written down."""

    resume_latest: bool = option(
        False, "go on with the newest conversation", name="--continue", exclusive_group="conversation"
    )
    conversation_id: str | None = option(
        None, "go on with this conversation", name="--conversation", metavar="ID", exclusive_group="conversation"
    )
    trace_file: str | None = option(
        None, "write all that happens to FILE; --model recorded:FILE replays it", name="--trace", metavar="FILE"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppArguments:
    """Open a document in the app."""

    sources: tuple[str, ...] = option((), f"{FILES_HELP}, or - for standard input", name="SOURCE", nargs="*")
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = add_argument_group(ConversationArguments)
    is_plain: bool = option(False, "lines of text, for a screen reader or a simple terminal", name="--plain")
    is_watching: bool = option(False, "read the document again whenever it changes on disk", name="--watch")
