"""Arguments of the command line into frozen values, one for each command."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from roamtui.app_arguments import AppArguments, ConversationArguments, ModelArguments, WebArguments
from roamtui.command_arguments import (
    AskArguments,
    CacheArguments,
    CommandArguments,
    ConversationsArguments,
    DoctorArguments,
    EvalArguments,
    IndexArguments,
    McpArguments,
    OutlineArguments,
    PreferencesArguments,
    SearchArguments,
    ServeArguments,
    ShowArguments,
)
from roamtui.conversation.state import KeepOpen
from roamtui.errors import UsageError
from roamtui.evaluation.options import EvalOptions
from roamtui.retrieval_flags import add_retrieval, take_retrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PORT_DEFAULT = 8000
_MCP_PORT_DEFAULT = 8001


Arguments = AppArguments | CommandArguments


class _Parser(argparse.ArgumentParser):
    """Tells of wrong use by an exception, in one sentence."""

    @override
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See `{self.prog} --help`.")


def parse_arguments(arguments: Sequence[str]) -> Arguments:
    """Return what the person asked for.

    Raises:
        UsageError: The arguments fit no command.
    """
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", ())
    parse = _COMMANDS.get(command)
    return parse(rest) if parse is not None else _parse_app(arguments)


def _make_parser(command: str, description: str) -> _Parser:
    program = f"roamtui {command}".strip()
    return _Parser(prog=program, description=description, allow_abbrev=False)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_positive.__name__ = "number above 0"


def _port(text: str) -> int:
    number = int(text)
    if not 0 < number < 1 << 16:
        raise ValueError
    return number


_port.__name__ = "port from 1 to 65535"


def _amount(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError
    return number


_amount.__name__ = "amount above 0"


def _add_source(parser: _Parser) -> None:
    help_source = "a Markdown or text file, a folder or a zip of them, an https:// address, or -"
    parser.add_argument("source", metavar="SOURCE", help=help_source)
    _add_web(parser)


def _add_web(parser: _Parser) -> None:
    help_offline = "show only pages that were fetched before"
    parser.add_argument("--no-network", dest="is_offline", action="store_true", help=help_offline)
    help_allow = "fetch pages from this site too without asking; may be given again"
    parser.add_argument("--allow-origin", metavar="URL", dest="allowed", action="append", default=[], help=help_allow)


def _read_web(values: argparse.Namespace) -> WebArguments:
    return WebArguments(is_offline=values.is_offline, allowed=tuple(values.allowed))


def _add_model(parser: _Parser) -> None:
    parser.add_argument("--model", metavar="M", help='"offline", or a litellm name such as openai/gpt-4.1-mini')
    parser.add_argument("--api-base", metavar="URL", help="address of the model's server")


def _add_record(parser: _Parser) -> None:
    parser.add_argument(
        "--max-cost", metavar="USD", type=_amount, help="what the conversation may cost before you are asked"
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="write all that happens to FILE; --model recorded:FILE replays it"
    )


def _add_conversation(parser: _Parser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--continue", dest="is_continued", action="store_true", help="go on with the newest conversation"
    )
    group.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    modes = [mode.value for mode in KeepOpen]
    parser.add_argument("--keep-open", choices=modes, help="what happens to open sections between questions")


def _read_model(values: argparse.Namespace) -> ModelArguments:
    return ModelArguments(
        model=values.model, api_base=values.api_base, max_cost_usd=values.max_cost, trace=values.trace
    )


def _read_conversation(values: argparse.Namespace) -> ConversationArguments:
    return ConversationArguments(
        is_continued=values.is_continued,
        conversation_id=values.conversation,
        keep_open=KeepOpen(values.keep_open) if values.keep_open else None,
    )


def _parse_app(arguments: Sequence[str]) -> AppArguments:
    parser = _make_parser("", "Open a document in the app.")
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help="Markdown or text files, folders, zips, or -")
    _add_web(parser)
    _add_model(parser)
    _add_record(parser)
    _add_conversation(parser)
    parser.add_argument(
        "--plain", dest="is_plain", action="store_true", help="lines of text, for a screen reader or a simple terminal"
    )
    help_watch = "read the document again whenever it changes on disk"
    parser.add_argument("--watch", dest="is_watching", action="store_true", help=help_watch)
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return AppArguments(
        sources=tuple(values.sources),
        model=_read_model(values),
        conversation=_read_conversation(values),
        is_plain=values.is_plain,
        is_watching=values.is_watching,
        retrieval=take_retrieval(values),
        web=_read_web(values),
    )


def _parse_serve(arguments: Sequence[str]) -> ServeArguments:
    parser = _make_parser("serve", "Show the app in a browser on this machine, and nowhere else.")
    _add_source(parser)
    parser.add_argument("--port", metavar="N", type=_port, default=_PORT_DEFAULT, help="port (default %(default)s)")
    _add_model(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return ServeArguments(
        source=values.source,
        port=values.port,
        model=ModelArguments(model=values.model, api_base=values.api_base),
        web=_read_web(values),
    )


def _parse_mcp(arguments: Sequence[str]) -> McpArguments:
    parser = _make_parser("mcp", "Give other programs the tools that the model has, by the Model Context Protocol.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="Markdown or text files, folders, zips")
    _add_web(parser)
    help_http = "serve HTTP on this machine in place of stdin and stdout"
    parser.add_argument("--http", dest="is_http", action="store_true", help=help_http)
    parser.add_argument("--port", metavar="N", type=_port, help=f"port for --http (default {_MCP_PORT_DEFAULT})")
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    if values.port is not None and not values.is_http:
        parser.error("--port needs --http")
    if "-" in values.sources and not values.is_http:
        parser.error("- cannot be read, because standard input is the client's. Name a file, or choose --http")
    return McpArguments(
        sources=tuple(values.sources),
        is_http=values.is_http,
        port=values.port or _MCP_PORT_DEFAULT,
        retrieval=take_retrieval(values),
        web=_read_web(values),
    )


def _parse_outline(arguments: Sequence[str]) -> OutlineArguments:
    parser = _make_parser("outline", "Print the outline: the very text that the model reads, or every section as JSON.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="Markdown or text files, folders, zips, or -")
    _add_web(parser)
    parser.add_argument("--json", dest="as_json", action="store_true", help="every section, with ids and lines")
    parser.add_argument("--budget", metavar="N", type=_positive, help="tokens that the text may have (default 12000)")
    values = parser.parse_intermixed_args(list(arguments))
    return OutlineArguments(
        sources=tuple(values.sources), as_json=values.as_json, budget_tokens=values.budget, web=_read_web(values)
    )


def _parse_show(arguments: Sequence[str]) -> ShowArguments:
    parser = _make_parser("show", "Print the raw text of sections, with all below them.")
    _add_source(parser)
    parser.add_argument("section_ids", metavar="ID", nargs="+", help="ids from the outline")
    values = parser.parse_args(list(arguments))
    return ShowArguments(source=values.source, section_ids=tuple(values.section_ids), web=_read_web(values))


def _parse_ask(arguments: Sequence[str]) -> AskArguments:
    parser = _make_parser("ask", "Ask one question and print a cited answer.")
    _add_source(parser)
    parser.add_argument("question", metavar="QUESTION")
    _add_model(parser)
    _add_record(parser)
    _add_conversation(parser)
    parser.add_argument("--within", metavar="ID", help="ask about this section and what lies below it alone")
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", dest="as_json", action="store_true", help="the answer with all about it as JSON")
    help_events = "what happens as JSON lines, as it happens; the last one is the answer"
    forms.add_argument("--events", dest="as_events", action="store_true", help=help_events)
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return AskArguments(
        source=values.source,
        question=values.question,
        model=_read_model(values),
        conversation=_read_conversation(values),
        as_json=values.as_json,
        as_events=values.as_events,
        within=values.within,
        retrieval=take_retrieval(values),
        web=_read_web(values),
    )


def _parse_search(arguments: Sequence[str]) -> SearchArguments:
    parser = _make_parser("search", "Print the sections that fit a query best.")
    _add_source(parser)
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--json", dest="as_json", action="store_true")
    _add_model(parser)
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return SearchArguments(
        source=values.source,
        query=values.query,
        as_json=values.as_json,
        model=ModelArguments(model=values.model, api_base=values.api_base),
        retrieval=take_retrieval(values),
        web=_read_web(values),
    )


def _parse_index(arguments: Sequence[str]) -> IndexArguments:
    parser = _make_parser("index", "Keep the search index of a source on disk; only what changed is written.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help="Markdown or text files, folders, zips, addresses")
    _add_web(parser)
    parser.add_argument("--delete", dest="is_deleted", action="store_true", help="delete it")
    help_to = "keep it in a LanceDB database: a folder, s3://… or db://…; the same as --index elsewhere"
    parser.add_argument("--to", metavar="URI", dest="uri", help=help_to)
    help_summaries = "let the model describe each document, or each longer section too; it says first what that costs"
    parser.add_argument(
        "--summaries", nargs="?", choices=["documents", "sections"], const="documents", help=help_summaries
    )
    parser.add_argument("--yes", dest="is_agreed", action="store_true", help="do not ask before the model is asked")
    _add_model(parser)
    add_retrieval(parser)
    values = parser.parse_args(list(arguments))
    retrieval = dict(take_retrieval(values))
    if values.uri is not None:
        retrieval["index"] = values.uri
    return IndexArguments(
        sources=tuple(values.sources),
        is_deleted=values.is_deleted,
        retrieval=retrieval,
        summaries=values.summaries,
        model=ModelArguments(model=values.model, api_base=values.api_base),
        is_agreed=values.is_agreed,
        web=_read_web(values),
    )


def _parse_conversations(arguments: Sequence[str]) -> ConversationsArguments:
    parser = _make_parser("conversations", "List, show, export or delete saved conversations.")
    parser.add_argument("action", nargs="?", choices=["list", "show", "export", "delete"], default="list")
    parser.add_argument("conversation_id", metavar="ID", nargs="?")
    parser.add_argument("--format", choices=["md", "json"], default="md")
    values = parser.parse_intermixed_args(list(arguments))
    if (values.conversation_id is None) != (values.action == "list"):
        parser.error(f"{values.action} takes {'no' if values.action == 'list' else 'the'} ID of a conversation")
    return ConversationsArguments(
        action=values.action, conversation_id=values.conversation_id, as_json=values.format == "json"
    )


def _parse_cache(arguments: Sequence[str]) -> CacheArguments:
    parser = _make_parser("cache", "Say how many pages of the web are kept on this machine, or drop them all.")
    parser.add_argument("action", nargs="?", choices=["show", "clear"], default="show")
    parser.add_argument("--json", dest="as_json", action="store_true")
    values = parser.parse_args(list(arguments))
    return CacheArguments(action=values.action, as_json=values.as_json)


def _parse_preferences(arguments: Sequence[str]) -> PreferencesArguments:
    parser = _make_parser("preferences", "Print what the model is told of how you want to be answered.")
    parser.add_argument("--edit", dest="is_editing", action="store_true", help="open it in $EDITOR")
    return PreferencesArguments(is_editing=parser.parse_args(list(arguments)).is_editing)


def _parse_doctor(arguments: Sequence[str]) -> DoctorArguments:
    parser = _make_parser("doctor", "Say what is installed, where files lie, and which models are usable and why not.")
    _add_model(parser)
    parser.add_argument("--json", dest="as_json", action="store_true")
    values = parser.parse_args(list(arguments))
    return DoctorArguments(model=ModelArguments(model=values.model, api_base=values.api_base), as_json=values.as_json)


def _parse_eval(arguments: Sequence[str]) -> EvalArguments:
    parser = _make_parser("eval", "Measure search, or with --model the whole agent, on questions with known sections.")
    parser.add_argument("questions", metavar="QUESTIONS", nargs="?", type=Path, help="a JSON object a line")
    parser.add_argument("--docs", metavar="DIR", type=Path, help="folder of the documents")
    parser.add_argument("--scope", choices=["doc", "all"], default="doc", help="the question's document, or the folder")
    _add_model(parser)
    parser.add_argument("--name", metavar="NAME", help="of the question set, in results and reports")
    parser.add_argument("--sample", metavar="N", type=_positive, help="so many questions, chosen by chance")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the sample and of the intervals")
    parser.add_argument("--no-history", dest="with_history", action="store_false", help="ask without earlier turns")
    parser.add_argument("--jobs", metavar="N", type=_positive, default=1, help="questions asked side by side")
    help_out = "per-question results; a run that was stopped goes on from it"
    parser.add_argument("--questions-out", metavar="FILE", type=Path, help=help_out)
    help_compare = "what the second per-question file gains over the first"
    parser.add_argument("--compare", metavar=("A", "B"), nargs=2, type=Path, help=help_compare)
    parser.add_argument("--report", metavar="FILE", type=Path, help="tables and plots, .html or .md")
    help_rows = "per-question files for the report"
    parser.add_argument("--rows", metavar="FILE", nargs="+", type=Path, default=[], help=help_rows)
    parser.add_argument("--json", dest="as_json", action="store_true")
    add_retrieval(parser)
    parsed = parser.parse_intermixed_args(list(arguments))
    retrieval, values = take_retrieval(parsed), vars(parsed)
    model = ModelArguments(model=values.pop("model"), api_base=values.pop("api_base"))
    compare, rows = values.pop("compare"), tuple(values.pop("rows"))
    options = EvalOptions(**values, rows=rows, compare=(compare[0], compare[1]) if compare else None)
    return EvalArguments(options=options, model=model, retrieval=retrieval)


_COMMANDS: dict[str, Callable[[Sequence[str]], CommandArguments]] = {
    "outline": _parse_outline,
    "show": _parse_show,
    "ask": _parse_ask,
    "search": _parse_search,
    "index": _parse_index,
    "conversations": _parse_conversations,
    "cache": _parse_cache,
    "preferences": _parse_preferences,
    "doctor": _parse_doctor,
    "eval": _parse_eval,
    "serve": _parse_serve,
    "mcp": _parse_mcp,
}
