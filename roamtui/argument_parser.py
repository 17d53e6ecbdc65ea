"""Parses the arguments of a command, which are declared as the fields of its class."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn, TypeVar

from typing_extensions import override

from roamtui.errors import UsageError
from roamtui.headless.output import write_text
from roamtui.option_fields import SEARCH, Option, OptionError, list_options
from roamtui.search.options import RetrievalOptions
from roamtui.settings import Settings

_T = TypeVar("_T")
_SEARCH_HELP = "Each is also a key of the table [retrieval] in config.toml, which has more of them: docs/search.md."
_SETTINGS = list_options(Settings)
_SEARCH_FLAGS = {name: declared for name, declared in list_options(RetrievalOptions).items() if declared.name}


def parse_arguments(kind: type[_T], program: str, words: Sequence[str]) -> _T:
    """Parse the arguments of a command into its class, whose fields declare them and whose docstring is the help.

    Raises:
        UsageError: The arguments are invalid.
    """
    return _build_value(vars(_make_parser(kind, program).parse_intermixed_args(list(words))), kind)


def _make_parser(kind: type[Any], program: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=program, description=kind.__doc__, allow_abbrev=False)
    _add_arguments(kind, parser, {})
    return parser


class _Parser(argparse.ArgumentParser):
    """Reports wrong use as an exception with a one-sentence message."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")

    @override
    def _print_message(self, message: str, file: object = None) -> None:
        write_text(message)  # argparse would ignore a failed write


def _add_arguments(
    kind: type[Any], parser: argparse.ArgumentParser, exclusive: dict[str, argparse._MutuallyExclusiveGroup]
) -> None:
    # `exclusive` collects the groups of mutually exclusive flags by name.
    for member in fields(kind):
        if "part" in member.metadata:
            _add_arguments(member.metadata["part"], parser, exclusive)
        elif "option" in member.metadata:
            declared: Option = member.metadata["option"]
            if declared.exclusive_group and declared.exclusive_group not in exclusive:
                exclusive[declared.exclusive_group] = parser.add_mutually_exclusive_group()
            _add_argument(exclusive.get(declared.exclusive_group, parser), member.name, declared)
        for name in member.metadata.get("settings", ()):
            if name == SEARCH:
                group = parser.add_argument_group("search", _SEARCH_HELP)
                for key, setting in _SEARCH_FLAGS.items():
                    _add_argument(group, f"{SEARCH}.{key}", setting, is_setting=True)
            else:
                _add_argument(parser, f"setting.{name}", _SETTINGS[name], is_setting=True)


def _add_argument(
    container: argparse._ActionsContainer, dest: str, declared: Option, *, is_setting: bool = False
) -> None:
    # A setting defaults to None, because config.toml may set it.
    options: dict[str, Any] = {"help": declared.help, "default": None if is_setting else declared.default}
    names = [declared.name] if declared.name.startswith("-") else []
    if names and declared.kind is bool:
        switch = "store_false" if declared.default else "store_true"
        action = argparse.BooleanOptionalAction if is_setting else switch
        container.add_argument(*names, dest=dest, action=action, **options)
        return
    if names and declared.default is ...:
        options["required"] = True
    options["metavar"] = ("|".join(declared.choices) or declared.metavar) if names else declared.name
    if declared.nargs:
        options["nargs"] = declared.nargs
    elif declared.kind is tuple:
        options |= {"action": "append", "default": list(declared.default)}
    if names and declared.nargs == "?":
        options["const"] = declared.choices[0]

    def convert(text: str) -> object:
        try:
            return declared.from_argument(text)
        except OptionError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    container.add_argument(*names, dest=dest, type=convert, **options)


def _build_value(values: Mapping[str, Any], kind: type[_T]) -> _T:
    built: dict[str, Any] = {}
    # An empty text, for instance from an unset variable, counts as a missing argument.
    present = {name: value for name, value in values.items() if value not in (None, "")}
    for member in fields(kind):  # type: ignore[arg-type]
        if "part" in member.metadata:
            built[member.name] = _build_value(values, member.metadata["part"])
        elif "settings" in member.metadata:
            names = member.metadata["settings"]
            overrides = {name: present[f"setting.{name}"] for name in names if f"setting.{name}" in present}
            search = {name: present[f"{SEARCH}.{name}"] for name in _SEARCH_FLAGS if f"{SEARCH}.{name}" in present}
            built[member.name] = {**overrides, SEARCH: search} if search else overrides
        elif "option" in member.metadata:
            value = values[member.name]
            built[member.name] = tuple(value) if isinstance(value, list) else value
    return kind(**built)
