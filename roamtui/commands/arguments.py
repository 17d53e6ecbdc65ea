"""The parts of commands: their parser, their shared arguments, and the opening of their sources."""

from __future__ import annotations

import math
import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter

from roamtui.convert.formats import FORMATS
from roamtui.errors import UsageError, format_nearest_name
from roamtui.program import format_program, qualify_commands

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any, NoReturn

    from roamtui.bootstrap import Bootstrap
    from roamtui.document.library import Library
    from roamtui.opening.loader import Loader

*_NAMES, _LAST_NAME = (each.name for each in FORMATS)
SOURCE_KINDS = (
    f"a file (Markdown, text, {', '.join(_NAMES)} or {_LAST_NAME}), a folder of such files, "
    "the URL of a site or of a page, or - for standard input"
)
MISSING_EXTRA = "`roamtui {0}` needs more packages. Install them with: pip install 'roamtui[{0}]'"
_FILES = {
    "bash": "_shtab_compgen_files",
    "fish": "(__fish_complete_path (commandline -ct))",
    "zsh": "_files",
}
"""The value of `shtab.FILE`, without importing shtab."""


class NumberRange:
    """The numbers that an option accepts. If `least` is an int, only whole numbers are accepted."""

    def __init__(self, least: float, most: float) -> None:
        self.least = least
        self.most = most
        self.text = f"{least:,} to {most:,}"

    def __call__(self, text: str) -> float:
        """Parse a number. Raise `ArgumentTypeError` if it is not in the range."""
        try:
            number = type(self.least)(text)
        except ValueError:
            number = math.nan
        if self.least <= number <= self.most:
            return number
        kind = "whole number" if isinstance(self.least, int) else "number"
        raise ArgumentTypeError(f'"{text}" is not a {kind} from {self.text}')


class CommandParser(ArgumentParser):
    """A parser that reports wrong use as a `UsageError`."""

    quoted_argument = ""
    """The name of the argument that takes several words. Empty if none does."""

    def error(self, message: str) -> NoReturn:  # type: ignore[explicit-override]  # `typing` is slow to load
        """Raise `UsageError`. If it helps, name the nearest option, or advise quotation marks."""
        extra = message.removeprefix("unrecognized arguments: ")
        hint = ""
        if extra != message and extra.startswith("-"):
            hint = format_nearest_name(extra.partition(" ")[0].partition("=")[0], self._option_string_actions)
        elif extra != message and self.quoted_argument:
            hint = f" Name one source, and put the {self.quoted_argument} in quotation marks."
        raise UsageError(f"{message.rstrip('.')}.{hint} See `{self.prog} --help`.")

    def format_help(self) -> str:  # type: ignore[explicit-override]  # `typing` is slow to load
        """Return the help. Its commands begin as a shell needs to start this program."""
        return qualify_commands(super().format_help())

    def add_flag(self, name: str, help_text: str) -> None:
        """Add an option without a value."""
        self.add_argument(name, action="store_true", help=help_text)

    def add_number(
        self,
        name: str,
        help_text: str,
        accepted: NumberRange,
        *,
        default: float | None = None,
        metavar: str = "N",
    ) -> None:
        """Add an option whose value is a number. The help names its range and its default."""
        default_text = f" (default {default})" if default is not None else ""
        help_text = f"{help_text}, {accepted.text}{default_text}"
        self.add_argument(name, type=accepted, default=default, metavar=metavar, help=help_text)

    def add_file_argument(self, *names: str, **options: Any) -> None:  # noqa: ANN401 - options of `add_argument`
        """Add an argument that a shell completes with the names of files."""
        action = self.add_argument(*names, **{"type": check_name, **options})
        action.complete = _FILES  # type: ignore[attr-defined]  # shtab reads it

    def add_path(self, name: str, help_text: str, **options: Any) -> None:  # noqa: ANN401 - the same
        """Add an argument that becomes a path."""
        self.add_file_argument(name, type=to_path, help=help_text, **options)

    def add_words(self, name: str, help_text: str) -> None:
        """Add the argument that has several words. Without quotation marks, a shell would divide it."""
        self.quoted_argument = name
        self.add_argument(name, type=decode_argument, metavar=name.upper(), help=help_text)


class Command:
    """A command: its function, whose docstring is its help, its arguments, and an example of its use."""

    def __init__(
        self,
        name: str,
        run: Callable[[Namespace], int | None],
        example: str,
        *adders: Callable[[CommandParser], None],
    ) -> None:
        self.name = name
        self.run = run
        self._example = f"{name} {example}".rstrip()
        self._adders = adders
        """Functions that add arguments, in this order."""

    @property
    def help(self) -> str:
        """What the command does, as one sentence."""
        return self.run.__doc__ or ""

    def make_parser(self) -> CommandParser:
        """Make the parser of this command."""
        parser = CommandParser(
            prog=f"{format_program()} {self.name}",
            description=self.help,
            epilog=f"example:\n  {format_program()} {self._example}",
            allow_abbrev=False,
            formatter_class=RawDescriptionHelpFormatter,
        )
        self.add_arguments(parser)
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of this command."""
        for add in self._adders:
            add(parser)


def add_source_argument(parser: CommandParser) -> None:
    """Add the one source of a command."""
    parser.add_file_argument("source", metavar="SOURCE", help=SOURCE_KINDS)


def add_sources_argument(parser: CommandParser, count: str = "+") -> None:
    """Add the sources of a command. They become one outline."""
    help_text = f"{SOURCE_KINDS}; several sources become one outline"
    parser.add_file_argument("sources", metavar="SOURCE", nargs=count, help=help_text)


def add_json(parser: CommandParser) -> None:
    """Add the flag for JSON as output."""
    parser.add_flag("--json", "as JSON, for other programs")


def add_yes(parser: CommandParser) -> None:
    """Add the flag that confirms in advance what is final or costs something."""
    parser.add_flag("--yes", "do not ask for confirmation")


def add_conversation_arguments(parser: CommandParser) -> None:
    """Add the options that resume a conversation, keep its sections open, and limit its cost."""
    resumed = parser.add_mutually_exclusive_group()
    resumed.add_argument(
        "--continue", dest="conversation", action="store_const", const="", help="resume the last conversation"
    )
    resumed.add_argument("--conversation", metavar="ID", help="resume the one with this id")
    help_text = "leave sections open between questions, or not"
    parser.add_argument("--keep-open", choices=("keep", "fresh"), help=help_text)
    add_max_cost(parser)


def add_max_cost(parser: CommandParser) -> None:
    """Add the spending limit."""
    help_text = "spending limit of the conversation, table or summaries"
    parser.add_number("--max-cost", help_text, NumberRange(0.0001, 1_000_000), metavar="USD")


def add_reading_arguments(parser: CommandParser) -> None:
    """Add the options for fetching and reading sources."""
    parser.add_flag("--no-network", "fetch no pages, use cached ones only")
    help_text = "fetch it without asking"
    parser.add_argument("--allow-origin", action="append", default=[], metavar="URL", help=help_text)
    parser.add_flag("--ocr", "read scanned pages of PDFs with tesseract")


def add_model_arguments(parser: CommandParser) -> None:
    """Add the options for the model and its server."""
    help_text = '"offline" (default), or a model such as openai/gpt-4.1-mini'
    parser.add_argument("--model", metavar="M", help=help_text)
    parser.add_argument("--api-base", metavar="URL", help="URL of the model's server")


def add_search_arguments(parser: CommandParser) -> None:
    """Add the options for search."""
    parser.add_argument("--mode", choices=("off", "keyword", "vector", "hybrid"), help="how to search")
    embedders = "model for search by meaning: ollama/MODEL or openai/MODEL"
    parser.add_argument("--embedder", metavar="S", help=embedders)
    databases = "a LanceDB database for vectors: a folder, s3://… or db://…"
    parser.add_argument("--index", metavar="URI", help=databases)
    parser.add_number("--limit", "maximum number of search results", NumberRange(1, 10_000))


def add_answering_arguments(parser: CommandParser) -> None:
    """Add the options for reading sources, for the model, and for search."""
    add_reading_arguments(parser)
    add_model_arguments(parser)
    add_search_arguments(parser)


def refuse_unused(options: Mapping[str, object], place: str) -> None:
    """Raise `UsageError` if an option has a value, because it has no effect in `place`: "with --plain"."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{name} has no effect {place}. Leave it out.")


def decode_argument(text: str) -> str:
    """Decode a typed argument. Bytes that the locale could not decode are read as UTF-8, or replaced."""
    return os.fsencode(text).decode("utf-8", "replace")


def check_name(name: str) -> str:
    """Return the name of a file or folder. Raise `ArgumentTypeError` if it is empty."""
    if not name:
        raise ArgumentTypeError("its name is empty. For the current folder, write a dot")
    return name


def to_path(text: str) -> Path:
    """Convert an argument to a path."""
    from pathlib import Path

    return Path(check_name(text))


def make_bootstrap(args: Namespace) -> Bootstrap:
    """Make the `Bootstrap` from the settings and the arguments of a command."""
    from roamtui.bootstrap import Bootstrap
    from roamtui.settings import list_overrides, load_settings

    values = vars(args)
    overrides = list_overrides(values)
    return Bootstrap(
        settings=load_settings(overrides),
        overridden_keys=frozenset(overrides),
        is_offline=values.get("no_network", False),
        allowed_origins=tuple(values.get("allow_origin", ())),
        reads_scans=values.get("ocr", False),
    )


def open_command_sources(
    args: Namespace, *, tells_notes: bool = True
) -> tuple[Bootstrap, Library, Loader | None]:
    """Open the sources of a command with all their files. Write notes about them to stderr."""
    from roamtui.output import write_notice

    bootstrap = make_bootstrap(args)
    sources = args.sources if "sources" in args else [args.source]
    library, loader = bootstrap.open(sources, load_all=True)
    write_notice(*(library.notes if tells_notes else ()))
    return bootstrap, library, loader
