"""The parser of the command line, and the flags that several commands have."""

from __future__ import annotations

import argparse
import math
import os
from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from roamtui.app_arguments import ConversationArguments, ModelArguments, WebArguments
from roamtui.conversation.state import KeepOpen
from roamtui.errors import UsageError
from roamtui.headless.output import write_text

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

_SOURCE_HELP = "a document, a folder or a zip of documents, an https:// address, or - for standard input"
FILES_HELP = "documents, folders or zips of documents, opened as one; or one https:// address"


class Parser(argparse.ArgumentParser):
    """Tells of wrong use by an exception, in one sentence."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")

    @override
    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        write_text(message)  # which tells where it cannot be written: argparse would drop it


def make_parser(command: str, description: str) -> Parser:
    """Return the parser of a command, empty for the app."""
    program = f"roamtui {command}".strip()
    return Parser(prog=program, description=description, allow_abbrev=False)


def read_count(text: str) -> int:
    """Return a whole number above 0."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


read_count.__name__ = "number above 0"


def read_port(text: str) -> int:
    """Return the number of a port."""
    number = int(text)
    if not 0 < number < 1 << 16:
        raise ValueError
    return number


read_port.__name__ = "port from 1 to 65535"


def read_amount(text: str) -> float:
    """Return a number above 0, as of money."""
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError
    return number


read_amount.__name__ = "amount above 0"


def read_words(text: str) -> str:
    """Return words that a person typed; what the locale cannot read is UTF-8, or is replaced."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(text).decode("utf-8", "replace")
    return text


def add_source(parser: Parser) -> None:
    """Let a command have one source, and flags of what may be fetched."""
    parser.add_argument("source", metavar="SOURCE", help=_SOURCE_HELP)
    add_web(parser)


def add_web(parser: Parser) -> None:
    """Let a command have flags of what may be fetched."""
    help_offline = "show only pages that were fetched before"
    parser.add_argument("--no-network", dest="is_offline", action="store_true", help=help_offline)
    help_allow = "fetch pages from this site too without asking; may be given again"
    parser.add_argument("--allow-origin", metavar="URL", dest="allowed", action="append", default=[], help=help_allow)


def read_web(values: argparse.Namespace) -> WebArguments:
    """Return what may be fetched."""
    return WebArguments(is_offline=values.is_offline, allowed=tuple(values.allowed))


def add_json(parser: Parser) -> None:
    """Let a command answer other programs."""
    parser.add_argument("--json", dest="as_json", action="store_true", help="as JSON, for other programs")


def add_model(parser: Parser) -> None:
    """Let a command have flags of the model."""
    parser.add_argument("--model", metavar="M", help='"offline", or a litellm name such as openai/gpt-4.1-mini')
    parser.add_argument("--api-base", metavar="URL", help="address of the model's server")


def add_record(parser: Parser) -> None:
    """Let a command have flags of what the model costs and where all is written down."""
    parser.add_argument(
        "--max-cost", metavar="USD", type=read_amount, help="what the conversation may cost before you are asked"
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="write all that happens to FILE; --model recorded:FILE replays it"
    )


def add_conversation(parser: Parser) -> None:
    """Let a command go on with a conversation."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--continue", dest="is_continued", action="store_true", help="go on with the newest conversation"
    )
    group.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    modes = [mode.value for mode in KeepOpen]
    parser.add_argument("--keep-open", choices=modes, help="what happens to open sections between questions")


def read_model(values: argparse.Namespace) -> ModelArguments:
    """Return what was said of the model, its cost and its record."""
    return ModelArguments(
        model=values.model, api_base=values.api_base, max_cost_usd=values.max_cost, trace=values.trace
    )


def read_conversation(values: argparse.Namespace) -> ConversationArguments:
    """Return which conversation goes on."""
    return ConversationArguments(
        is_continued=values.is_continued,
        conversation_id=values.conversation,
        keep_open=KeepOpen(values.keep_open) if values.keep_open else None,
    )
