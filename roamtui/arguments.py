"""Arguments of the command line into frozen values, one for each command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.app_arguments import AppArguments, ModelArguments
from roamtui.argument_flags import (
    FILES_HELP,
    add_conversation,
    add_json,
    add_model,
    add_record,
    add_source,
    add_web,
    make_parser,
    read_conversation,
    read_count,
    read_model,
    read_port,
    read_web,
    read_words,
)
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
from roamtui.evaluation.options import EvalOptions
from roamtui.retrieval_flags import add_retrieval, take_retrieval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PORT_DEFAULT = 8000
_MCP_PORT_DEFAULT = 8001

Arguments = AppArguments | CommandArguments


def parse_arguments(arguments: Sequence[str]) -> Arguments:
    """Return what the person asked for.

    Raises:
        UsageError: The arguments fit no command.
    """
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", ())
    parse = _COMMANDS.get(command)
    return parse(rest) if parse is not None else _parse_app(arguments)


def _parse_app(arguments: Sequence[str]) -> AppArguments:
    parser = make_parser("", "Open a document in the app.")
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help=f"{FILES_HELP}, or - for standard input")
    add_web(parser)
    add_model(parser)
    add_record(parser)
    add_conversation(parser)
    parser.add_argument(
        "--plain", dest="is_plain", action="store_true", help="lines of text, for a screen reader or a simple terminal"
    )
    help_watch = "read the document again whenever it changes on disk"
    parser.add_argument("--watch", dest="is_watching", action="store_true", help=help_watch)
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return AppArguments(
        sources=tuple(values.sources),
        model=read_model(values),
        conversation=read_conversation(values),
        is_plain=values.is_plain,
        is_watching=values.is_watching,
        retrieval=take_retrieval(values),
        web=read_web(values),
    )


def _parse_serve(arguments: Sequence[str]) -> ServeArguments:
    parser = make_parser("serve", "Show the app in a browser on this machine, and nowhere else.")
    help_source = "a document, a folder or a zip of documents, or an https:// address"
    parser.add_argument("source", metavar="SOURCE", help=help_source)
    add_web(parser)
    parser.add_argument("--port", metavar="N", type=read_port, default=_PORT_DEFAULT, help="port (default %(default)s)")
    add_model(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return ServeArguments(
        source=values.source,
        port=values.port,
        model=ModelArguments(model=values.model, api_base=values.api_base),
        web=read_web(values),
    )


def _parse_mcp(arguments: Sequence[str]) -> McpArguments:
    parser = make_parser("mcp", "Give other programs the tools that the model has, by the Model Context Protocol.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help=FILES_HELP)
    add_web(parser)
    help_http = "serve HTTP on this machine in place of stdin and stdout"
    parser.add_argument("--http", dest="is_http", action="store_true", help=help_http)
    parser.add_argument("--port", metavar="N", type=read_port, help=f"port for --http (default {_MCP_PORT_DEFAULT})")
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
        web=read_web(values),
    )


def _parse_outline(arguments: Sequence[str]) -> OutlineArguments:
    parser = make_parser("outline", "Print the outline: the very text that the model reads, or every section as JSON.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help=f"{FILES_HELP}, or - for standard input")
    add_web(parser)
    parser.add_argument("--json", dest="as_json", action="store_true", help="every section, with ids and lines")
    parser.add_argument("--budget", metavar="N", type=read_count, help="tokens that the text may have (default 12000)")
    values = parser.parse_intermixed_args(list(arguments))
    return OutlineArguments(
        sources=tuple(values.sources), as_json=values.as_json, budget_tokens=values.budget, web=read_web(values)
    )


def _parse_show(arguments: Sequence[str]) -> ShowArguments:
    parser = make_parser("show", "Print the raw text of sections, with all below them.")
    add_source(parser)
    help_ids = "from the outline: of a section, of its page 2 (07f3277d:2), of a range below it (07f3277d:c2)"
    parser.add_argument("section_ids", metavar="ID", nargs="+", help=help_ids)
    values = parser.parse_args(list(arguments))
    return ShowArguments(source=values.source, section_ids=tuple(values.section_ids), web=read_web(values))


def _parse_ask(arguments: Sequence[str]) -> AskArguments:
    parser = make_parser("ask", "Ask one question and print a cited answer.")
    add_source(parser)
    parser.add_argument("question", metavar="QUESTION", type=read_words, help="in your own words, as one argument")
    add_model(parser)
    add_record(parser)
    add_conversation(parser)
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
        model=read_model(values),
        conversation=read_conversation(values),
        as_json=values.as_json,
        as_events=values.as_events,
        within=values.within,
        retrieval=take_retrieval(values),
        web=read_web(values),
    )


def _parse_search(arguments: Sequence[str]) -> SearchArguments:
    parser = make_parser("search", "Print the sections that fit a query best.")
    add_source(parser)
    parser.add_argument("query", metavar="QUERY", type=read_words, help="words to find, as one argument")
    add_json(parser)
    add_model(parser)
    add_retrieval(parser)
    values = parser.parse_intermixed_args(list(arguments))
    return SearchArguments(
        source=values.source,
        query=values.query,
        as_json=values.as_json,
        model=ModelArguments(model=values.model, api_base=values.api_base),
        retrieval=take_retrieval(values),
        web=read_web(values),
    )


def _parse_index(arguments: Sequence[str]) -> IndexArguments:
    parser = make_parser("index", "Keep the search index of a source on disk; only what changed is written.")
    parser.add_argument("sources", metavar="SOURCE", nargs="+", help=FILES_HELP)
    add_web(parser)
    parser.add_argument("--delete", dest="is_deleted", action="store_true", help="delete it")
    help_to = "keep it in a LanceDB database: a folder, s3://… or db://…; the same as --index elsewhere"
    parser.add_argument("--to", metavar="URI", dest="uri", help=help_to)
    help_summaries = "let the model describe each document, or each longer section too; it says first what that costs"
    parser.add_argument(
        "--summaries", nargs="?", choices=["documents", "sections"], const="documents", help=help_summaries
    )
    parser.add_argument("--yes", dest="is_agreed", action="store_true", help="do not ask before the model is asked")
    add_model(parser)
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
        web=read_web(values),
    )


def _parse_conversations(arguments: Sequence[str]) -> ConversationsArguments:
    parser = make_parser("conversations", "List, show, export or delete saved conversations.")
    help_action = "list (default) all; show, export or delete the one with ID"
    actions = ["list", "show", "export", "delete"]
    parser.add_argument("action", nargs="?", choices=actions, default="list", help=help_action)
    parser.add_argument("conversation_id", metavar="ID", nargs="?", help="from the list")
    help_format = "Markdown (default), or JSON for other programs"
    parser.add_argument("--format", choices=["md", "json"], default="md", help=help_format)
    values = parser.parse_intermixed_args(list(arguments))
    if (values.conversation_id is None) != (values.action == "list"):
        parser.error(f"{values.action} takes {'no' if values.action == 'list' else 'the'} ID of a conversation")
    return ConversationsArguments(
        action=values.action, conversation_id=values.conversation_id, as_json=values.format == "json"
    )


def _parse_cache(arguments: Sequence[str]) -> CacheArguments:
    parser = make_parser("cache", "Say how much is kept that can be had again, such as pages of the web, or drop it.")
    help_action = "show (default) how much is kept, or clear it"
    parser.add_argument("action", nargs="?", choices=["show", "clear"], default="show", help=help_action)
    add_json(parser)
    values = parser.parse_args(list(arguments))
    return CacheArguments(action=values.action, as_json=values.as_json)


def _parse_preferences(arguments: Sequence[str]) -> PreferencesArguments:
    parser = make_parser("preferences", "Print what the model is told of how you want to be answered.")
    parser.add_argument("--edit", dest="is_editing", action="store_true", help="open it in $EDITOR")
    return PreferencesArguments(is_editing=parser.parse_args(list(arguments)).is_editing)


def _parse_doctor(arguments: Sequence[str]) -> DoctorArguments:
    parser = make_parser("doctor", "Say what is installed, where files lie, and which models are usable and why not.")
    add_model(parser)
    add_json(parser)
    values = parser.parse_args(list(arguments))
    return DoctorArguments(model=ModelArguments(model=values.model, api_base=values.api_base), as_json=values.as_json)


def _parse_eval(arguments: Sequence[str]) -> EvalArguments:
    parser = make_parser("eval", "Measure search, or with --model the whole agent, on questions with known sections.")
    parser.add_argument("questions", metavar="QUESTIONS", nargs="?", type=Path, help="a JSON object a line")
    parser.add_argument("--docs", metavar="DIR", type=Path, help="folder of the documents")
    parser.add_argument("--scope", choices=["doc", "all"], default="doc", help="the question's document, or the folder")
    add_model(parser)
    parser.add_argument("--name", metavar="NAME", help="of the question set, in results and reports")
    parser.add_argument("--sample", metavar="N", type=read_count, help="so many questions, chosen by chance")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the sample and of the intervals")
    parser.add_argument("--no-history", dest="with_history", action="store_false", help="ask without earlier turns")
    parser.add_argument("--jobs", metavar="N", type=read_count, default=1, help="questions asked side by side")
    help_out = "per-question results; a run that was stopped goes on from it"
    parser.add_argument("--questions-out", metavar="FILE", type=Path, help=help_out)
    help_compare = "what the second per-question file gains over the first"
    parser.add_argument("--compare", metavar=("A", "B"), nargs=2, type=Path, help=help_compare)
    parser.add_argument("--report", metavar="FILE", type=Path, help="tables and plots, .html or .md")
    help_rows = "per-question files for the report"
    parser.add_argument("--rows", metavar="FILE", nargs="+", type=Path, default=[], help=help_rows)
    add_json(parser)
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
