"""The command line: one parser, one function for each command below its arguments, and errors as one sentence.

A command imports its code when it runs, so that `roamtui --help` and other commands stay fast.
"""

from __future__ import annotations

import os
import sys

from roamtui.errors import EXIT_CANCELLED, RoamtuiError, UsageError

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Any

    from roamtui.bootstrap import Bootstrap
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.headless.recheck import ClaimGroup
    from roamtui.settings import ConversationArguments

    Command = Callable[[Namespace], int]
    Argument = tuple[tuple[str, ...], dict[str, Any]]

_SIMILARITY_MIN = 0.65
"""Minimum similarity, from 0 to 1, of a mistyped name: one wrong, missing or swapped letter in a short name."""
_HITS_DEFAULT, _SERVE_PORT, _PORT_MAX = 10, 8000, 65_535
_CONFIG = "config."
"""Prefix of the arguments that override a setting. The rest of their name is the key in `config.toml`."""
_DESCRIPTION = """\
Ask questions of a well-organised document. A model reads its outline, opens the
sections it needs, and proves its answer with quotes. Without a command, the app
opens; without SOURCE, it shows a start screen.

commands (`roamtui COMMAND --help` explains each):
{commands}

To open a file named like a command, write ./ask."""

COMMANDS: dict[str, Command] = {}
"""The function of each command by its name. That of the app has an empty name."""
_ARGUMENTS: dict[str, tuple[Argument, ...]] = {}


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit status: 0 success, 1 failure, 2 wrong use, 130 cancelled."""
    words = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from roamtui.headless.output import open_closed_streams

        open_closed_streams()
    try:
        return _run(words)
    except RoamtuiError as error:
        from roamtui.headless.output import write_notice

        write_notice(f"roamtui: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - the last stop before a person would see a traceback
        import traceback

        if os.environ.get("ROAMTUI_DEBUG"):
            traceback.print_exception(error)
        else:
            kind = type(error).__name__
            sys.stderr.write(f"roamtui: internal error ({kind}). Rerun with ROAMTUI_DEBUG=1 and report it.\n")
        return 1
    finally:
        _detach_stdout()


def _run(words: list[str]) -> int:
    if words == ["--version"]:
        from roamtui import __version__

        return _print(f"roamtui {__version__}\n")
    name = words[0] if words and words[0] in COMMANDS else ""
    if not {"-h", "--help"}.isdisjoint(words):
        return _print(make_parser(name).format_help())
    if len(words) == 1 and not words[0].startswith("-") and any(mark in words[0] for mark in "./"):
        # For a single path, loading argparse would make the first screen 4 % later. No command name contains . or /.
        from roamtui.bootstrap import Bootstrap
        from roamtui.launch import Launch

        return Launch(bootstrap=Bootstrap(), sources=(words[0],)).run()
    is_word = not name and bool(words) and words[0].isalpha()
    if is_word and not os.path.lexists(words[0]) and (hint := _suggest(words[0], COMMANDS)):
        raise UsageError(f'there is no command or file "{words[0]}"{hint}')
    return COMMANDS[name](parse_arguments(name, words[1:] if name else words))


def make_parser(name: str) -> ArgumentParser:
    """Make the parser for the arguments of a command, or with an empty name, of the app."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter
    from functools import partial

    text = COMMANDS[name].__doc__ or ""
    if not name:
        lines = [f"  {each:<14}{(run.__doc__ or '').partition('.')[0]}" for each, run in COMMANDS.items() if each]
        text = _DESCRIPTION.format(commands="\n".join(lines))
    prog = f"roamtui {name}".strip()
    formatter = RawDescriptionHelpFormatter
    parser = ArgumentParser(prog=prog, description=text, allow_abbrev=False, formatter_class=formatter)
    parser.error = partial(_refuse, parser)  # type: ignore[assignment, method-assign]
    groups: dict[str, Any] = {}
    for names, options in _ARGUMENTS[name]:
        group = options.get("group", "")
        if group and group not in groups:
            groups[group] = parser.add_mutually_exclusive_group()
        own = {key: value for key, value in options.items() if key != "group"}
        groups.get(group, parser).add_argument(*names, **own)
    return parser


def parse_arguments(name: str, words: list[str]) -> Namespace:
    """Parse the arguments of a command, or with an empty name, of the app.

    Raises:
        UsageError: The arguments are invalid.
    """
    return make_parser(name).parse_intermixed_args(words)


def _refuse(parser: ArgumentParser, message: str) -> None:
    start, _, unknown = message.partition("unrecognized arguments: ")
    flag = unknown.partition(" ")[0].partition("=")[0]
    if not start and flag.startswith("-"):
        flags = [each for action in parser._actions for each in action.option_strings]  # noqa: SLF001 - no other list
        message = f"there is no option {flag}{_suggest(flag, flags)}"
    raise UsageError(f"{message}{'' if message.endswith('?') else '.'} See `{parser.prog} --help`.")


def _suggest(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(word.lower(), names, n=1, cutoff=_SIMILARITY_MIN)
    return f". Did you mean {similar[0]}?" if similar else ""


def _count(text: str, maximum: int = sys.maxsize) -> int:
    if text.isdecimal() and 1 <= int(text) <= maximum:
        return int(text)
    from argparse import ArgumentTypeError

    bounds = f"from 1 to {maximum}" if maximum != sys.maxsize else "of 1 or more"
    raise ArgumentTypeError(f"must be a whole number {bounds}")


def _port(text: str) -> int:
    return _count(text, _PORT_MAX)


def _amount(text: str) -> float:
    from argparse import ArgumentTypeError

    try:
        if 0 < (value := float(text)) < sys.float_info.max:
            return value
    except ValueError:
        pass
    raise ArgumentTypeError("must be a number above 0")


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _decode(text: str) -> str:
    # Bytes that the locale cannot decode are read as UTF-8, or replaced.
    return os.fsencode(text).decode("utf-8", "replace")


def _get_overrides(args: Namespace) -> dict[str, Any]:
    # An empty text, for instance from an unset variable, counts as a missing argument.
    given = {name: value for name, value in vars(args).items() if value not in (None, "")}
    return {name.removeprefix(_CONFIG): value for name, value in given.items() if name.startswith(_CONFIG)}


def _make_bootstrap(args: Namespace) -> Bootstrap:
    from roamtui.bootstrap import Bootstrap
    from roamtui.settings import load_settings

    settings = load_settings(_get_overrides(args))
    if "no_network" not in args:
        return Bootstrap(settings=settings)
    origins = tuple(args.allow_origin)
    return Bootstrap(settings=settings, is_offline=args.no_network, allowed_origins=origins, reads_scans=args.ocr)


def _get_conversation_arguments(args: Namespace) -> ConversationArguments:
    from roamtui.settings import ConversationArguments

    return ConversationArguments(resume_latest=args.resumes, conversation_id=args.conversation)


def _open_and_report(
    bootstrap: Bootstrap, sources: Sequence[str], *, uses_index: bool = False
) -> tuple[Library, Loader | None]:
    # Opens the sources of a command with all their files, and writes what went wrong to stderr.
    from roamtui.headless.output import write_notices

    library, loader = bootstrap.open(sources, load_all=True, uses_index=uses_index)
    write_notices(library.notes)
    return library, loader


def _argument(*names: str, **options: Any) -> Argument:  # noqa: ANN401 - those of argparse, and `group` for exclusive ones
    return names, options


def _switch(name: str, text: str, **options: str) -> Argument:
    return (name,), {"action": "store_true", "help": text, **options}


def _setting(key: str, flag: str, values: str, text: str) -> Argument:
    if "|" in values:
        return (flag,), {"dest": _CONFIG + key, "choices": values.split("|"), "help": text}
    kind = {"N": _count, "USD": _amount}.get(values, str)
    return (flag,), {"dest": _CONFIG + key, "type": kind, "metavar": values, "help": text}


def command(name: str, *arguments: Argument) -> Callable[[Command], Command]:
    """Declare a function as a command with these arguments. Its docstring is the help."""

    def register(run: Command) -> Command:
        COMMANDS[name], _ARGUMENTS[name] = run, arguments
        return run

    return register


_KINDS = (
    "Markdown, text, PDF, HTML, EPUB, Office and OpenDocument files, Jupyter notebooks, subtitles; a folder of them; "
    "the https:// address of a site, its llms.txt or a page; - for standard input"
)
_SOURCE = _argument("source", metavar="SOURCE", help=_KINDS)
_SOURCES = _argument("sources", metavar="SOURCE", nargs="+", help=f"{_KINDS}; several are opened as one")
_JSON = _switch("--json", "as JSON, for other programs")
_JOBS = _argument("--jobs", type=_count, default=1, metavar="N", help="questions to ask at a time (default 1)")
_PORT = _argument("--port", type=_port, metavar="N", help="port on this machine")
_WEB = (
    _switch("--no-network", "use cached pages only"),
    _argument(
        "--allow-origin", action="append", default=[], metavar="URL",
        help="also fetch from this site without asking (repeatable)",
    ),
    _switch("--ocr", "read scanned pages of PDFs by tesseract, which must be installed"),
)  # fmt: skip
_CONVERSATION = (
    _switch("--continue", "resume the latest conversation", dest="resumes", group="conversation"),
    _argument("--conversation", metavar="ID", help="resume this conversation", group="conversation"),
    _setting("keep_open.mode", "--keep-open", "keep|fresh", "which sections stay open between questions"),
)
_MODEL = (
    _setting("model", "--model", "M", '"offline" (default), or a litellm name such as openai/gpt-4.1-mini'),
    _setting("api_base", "--api-base", "URL", "address of the model's server"),
)
_MAX_COST = _setting("limits.max_cost_usd", "--max-cost", "USD", "ask before a conversation costs more than this")
_SEARCH = (
    _setting("retrieval.mode", "--mode", "off|keyword|vector|hybrid", "how to search"),
    _setting("retrieval.embedder", "--embedder", "S", "for vectors: ollama/MODEL, openai/MODEL or local:NAME"),
    _setting("retrieval.index", "--index", "URI", "a LanceDB database: a folder, s3://… or db://…"),
    _setting("retrieval.limit", "--limit", "N", "maximum number of results"),
    _setting("retrieval.rerank", "--rerank", "off|on", "have the model reorder the results (one request)"),
)
_COMMON = (*_WEB, *_MODEL, *_SEARCH)


@command(
    "",
    _argument("sources", metavar="SOURCE", nargs="*", help=f"{_KINDS}; several are opened as one"),
    _switch("--plain", "plain text, for screen readers and simple terminals"),
    _switch("--watch", "reload the document when it changes on disk"),
    *_CONVERSATION,
    _MAX_COST,
    *_COMMON,
    _argument("--print-completion", choices=("bash", "zsh"), help="print a script that completes commands and flags"),
    _switch("--version", "print the version"),
)
def app(args: Namespace) -> int:
    """Open documents in the app."""
    if args.print_completion:
        return _print(render_completion(args.print_completion))
    from roamtui.launch import Launch

    return Launch(
        bootstrap=_make_bootstrap(args),
        sources=tuple(args.sources),
        conversation=_get_conversation_arguments(args),
        is_plain=args.plain,
        is_watching=args.watch,
    ).run()


@command(
    "ask",
    _SOURCE,
    _argument("question", metavar="QUESTION", help="in your own words, as one argument"),
    _argument("--within", metavar="ID", help="limit the question to this section and its subsections"),
    _switch("--json", "print the answer and its metadata as JSON", group="form"),
    _switch("--events", "stream events as JSON lines; the last line is the answer", group="form"),
    *_CONVERSATION,
    _MAX_COST,
    *_COMMON,
)
def ask(args: Namespace) -> int:
    """Ask one question and print a cited answer."""
    import asyncio

    from roamtui.headless.ask import run_ask

    bootstrap, question = _make_bootstrap(args), _decode(args.question)
    if not question.strip():
        raise UsageError("the question is empty.")
    library, loader = _open_and_report(bootstrap, [args.source], uses_index=True)
    agent = bootstrap.make_agent(bootstrap.start_conversation(library, loader, _get_conversation_arguments(args)))
    agent.conversation.is_one_shot = True
    within = args.within.strip("[]") if args.within else None
    output_format = "events" if args.events else "json" if args.json else "text"
    is_watched = sys.stderr.isatty()
    return asyncio.run(run_ask(agent, question, within=within, is_watched=is_watched, output_format=output_format))


@command(
    "outline",
    _SOURCES,
    _JSON,
    _argument("--budget", type=_count, metavar="N", help="maximum tokens (default: what the model gets, about 1000)"),
    *_WEB,
)
def outline(args: Namespace) -> int:
    """Print the outline exactly as the model reads it."""
    from roamtui.headless.sections import print_outline

    library, _ = _open_and_report(_make_bootstrap(args), args.sources, uses_index=True)
    print_outline(library, budget_tokens=args.budget, as_json=args.json)
    return 0


@command(
    "show",
    _SOURCE,
    _argument(
        "ids", metavar="ID", nargs="+",
        help="a section, its page 2 (07f3277d:2) or a range below it (07f3277d:c2); or a title, "
        "or a path such as 'Fees > Late fees'",
    ),
    *_WEB,
)  # fmt: skip
def show(args: Namespace) -> int:
    """Print the source text of sections and their subsections."""
    from roamtui.document.loader import load_pages
    from roamtui.headless.output import write_notices
    from roamtui.headless.sections import find_reference, print_sections

    library, loader = _open_and_report(_make_bootstrap(args), [args.source])
    references = [find_reference(library, name) for name in args.ids]
    if loader is not None:
        reported = library.notes
        library = load_pages(library, loader, [reference.section_id for reference in references])
        write_notices(note for page in library.documents for note in page.notes if note not in reported)
    print_sections(library, references)
    return 0


@command("search", _SOURCE, _argument("query", metavar="QUERY", help="words"), _JSON, *_COMMON)
def search(args: Namespace) -> int:
    """Print the sections that best match a query."""
    from roamtui.headless.hits import print_hits

    bootstrap = _make_bootstrap(args)
    make_searcher, options = bootstrap.make_searcher_factory(), bootstrap.settings.retrieval
    library, _ = _open_and_report(bootstrap, [args.source])
    searcher = make_searcher(library)
    if searcher is None:
        raise UsageError("search is off. Set --mode to keyword, vector or hybrid.")
    hits = searcher.search(_decode(args.query), limit=options.limit or _HITS_DEFAULT)
    print_hits(library, hits, options.mode, as_json=args.json)
    return 0


@command(
    "index",
    _SOURCES,
    _switch("--delete", "delete the index"),
    _switch("--summaries", "have the model describe each document; shows the cost first"),
    _switch("--yes", "do not ask for confirmation"),
    *_COMMON,
)  # fmt: skip
def index(args: Namespace) -> int:
    """Build or update the search index of a source on disk."""
    from dataclasses import replace

    from roamtui.headless.index import add_summaries, update_database, update_index
    from roamtui.headless.output import warn
    from roamtui.paths import indexes_path
    from roamtui.search.hybrid import make_searcher
    from roamtui.search.index import IndexLocation

    bootstrap = _make_bootstrap(args)
    library, _ = bootstrap.open(args.sources, load_all=True)
    options, location = bootstrap.settings.retrieval, IndexLocation(folder=indexes_path(), on_warning=warn)
    if args.summaries and not args.delete:
        library = add_summaries(library, bootstrap.make_model(), location, assume_yes=args.yes)
    services = replace(bootstrap.make_search_services(), needs_vectors=True)
    if options.index is not None:
        library = update_database(library, options.index, options.chunk_size, delete=args.delete)
    else:
        update_index(library, location, delete=args.delete)
    if options.needs_vectors and not args.delete and (searcher := make_searcher(library, options, services, location)):
        searcher.search("")  # embeds what is new
    return 0


@command(
    "table",
    _argument("sources", metavar="SOURCE", nargs="+", help=f"{_KINDS}; or the folder of a table, to continue it"),
    _argument(
        "-q", dest="questions", action="append", default=[], metavar="QUESTION",
        help="a question (repeatable); its type may follow: [yes/no], [number], [date], [red | green]",
    ),
    _argument("--questions", dest="file", type=_path, metavar="FILE", help="a TOML file of more questions"),
    _argument("-o", dest="output", type=_path, metavar="FILE", help="write FILE.csv, .md or .json"),
    _argument("--folder", type=_path, metavar="DIR", help="where to keep the table (default: by its sources)"),
    _JOBS,
    _MAX_COST,
    *_COMMON,
)  # fmt: skip
def table(args: Namespace) -> int:
    """Ask the same questions about many documents."""
    from roamtui.headless.table import run_table
    from roamtui.table.columns import parse_question, read_columns

    columns = [parse_question(_decode(question)) for question in args.questions]
    columns += read_columns(args.file) if args.file is not None else ()
    filled = _make_bootstrap(args).make_table(tuple(args.sources), columns, folder=args.folder, jobs=args.jobs)
    return run_table(*filled, args.output)


@command(
    "eval",
    _argument("questions", type=_path, metavar="QUESTIONS", help="file with one JSON object per line"),
    _argument("--docs", type=_path, metavar="DIR", required=True, help="folder of the documents"),
    _argument("--scope", choices=("doc", "all"), default="doc", help="search a question's document, or the folder"),
    _argument("--questions-out", type=_path, metavar="FILE", help="a new file for the result of each question"),
    _JOBS,
    _JSON,
    *_MODEL,
    *_SEARCH,
)
def evaluate(args: Namespace) -> int:
    """Measure search, or with --model answers, on your own questions."""
    from roamtui.evaluation.runner import EvalPlan
    from roamtui.headless.evaluate import run_evaluation

    bootstrap = _make_bootstrap(args)
    options = bootstrap.settings.retrieval
    if options.index is not None and args.scope != "all":
        raise UsageError("an index by URI holds one library, so questions are asked of all of it: add --scope all.")
    plan = EvalPlan(
        docs=args.docs,
        scope=args.scope,
        mode=options.mode,
        open_library=lambda path: bootstrap.open((str(path),), load_all=True)[0],
        make_searcher=bootstrap.make_searcher_factory(needs_vectors=True),
        model=bootstrap.make_model() if "model" in _get_overrides(args) else None,
        agent_options=bootstrap.agent_options,
        jobs=args.jobs,
    )
    return run_evaluation(args.questions, plan, args.questions_out, as_json=args.json)


@command(
    "conversations",
    _argument("action", nargs="?", default="list", choices=("list", "show", "export", "delete")),
    _argument("id", nargs="?", metavar="ID", help="from the list; to show or export, its beginning is enough"),
    _argument("--format", choices=("md", "json", "html"), default="md", help="html is a page that replays it"),
    _argument("--all", action="store_true", help="list those of `roamtui ask` too"),
)
def conversations(args: Namespace) -> int:
    """List, show, export or delete saved conversations."""
    from roamtui.conversation.log import ConversationStore
    from roamtui.headless.conversations import print_conversation, print_conversations
    from roamtui.headless.output import write_notices
    from roamtui.paths import conversations_path

    if (args.id is None) != (args.action == "list"):
        raise UsageError(f"{args.action} takes {'no' if args.action == 'list' else 'the'} ID of a conversation.")
    store = ConversationStore(conversations_path())
    if args.id is None:
        print_conversations(store, as_json=args.format == "json", lists_one_shots=args.all)
    elif args.action == "delete":
        store.delete(args.id)
        write_notices((f"Deleted {args.id}.",))
    else:  # show and export are the same: both write to stdout
        print_conversation(store, args.id, args.format, _make_bootstrap(args).reopen)
    return 0


@command(
    "notes",
    _argument("source", metavar="SOURCE", nargs="?", help="the document; if it no longer exists, its name as listed"),
    _switch("--delete", "delete all notes on it permanently"),
    *_WEB,
)
def notes(args: Namespace) -> int:
    """Print your notes on a document, or list documents with notes."""
    from roamtui.headless.notes import list_notes, print_notes
    from roamtui.sources.file_sources import split_sources

    if args.source is not None:
        bootstrap, sources = _make_bootstrap(args), split_sources(args.source)
        print_notes(args.source, lambda: bootstrap.open(sources, load_all=True)[0], delete=args.delete)
    elif args.delete:
        raise UsageError("--delete needs a SOURCE.")
    else:
        list_notes()
    return 0


@command(
    "recheck",
    _argument("targets", metavar="ID|FILE", nargs="*", help="conversations, Markdown files with quotes, or tables"),
    _switch("--all", "every saved conversation"),
    _argument("--source", metavar="NEW", help="check against this source instead of the recorded one"),
    _JSON,
    *_WEB,
)
def recheck(args: Namespace) -> int:
    """Check whether saved quotes are still there; exit 1 if not."""
    from roamtui.conversation.log import ConversationStore
    from roamtui.headless.recheck import collect_claims, print_rows, recheck_claims
    from roamtui.paths import conversations_path

    if bool(args.targets) == args.all:
        raise UsageError("give conversation ids, Markdown files or tables, or --all.")
    groups = collect_claims(ConversationStore(conversations_path()), args.targets, all_conversations=args.all)
    bootstrap = _make_bootstrap(args)

    def open_source(source: str, group: ClaimGroup) -> Library:
        added = group.sources if source == group.source else ()
        return bootstrap.reopen(source, group.links, group.approved, is_own=group.is_typed, added=added)

    return print_rows(recheck_claims(groups, open_source, args.source or None), as_json=args.json)


@command("mcp", _SOURCES, *_WEB, *_SEARCH)
def mcp(args: Namespace) -> int:
    """Serve the model's tools over the Model Context Protocol."""
    from functools import partial
    from importlib.util import find_spec

    from roamtui.headless.mcp_session import ServedLibrary
    from roamtui.headless.output import write_notices
    from roamtui.search.options import SearchMode
    from roamtui.sources.file_sources import FileStamps

    if "-" in args.sources:
        raise UsageError("cannot read the document from standard input, where the client speaks. Give a file.")
    bootstrap = _make_bootstrap(args)
    settings = bootstrap.settings
    if find_spec("mcp") is None:
        raise RoamtuiError("`roamtui mcp` needs an extra. Install it with: pip install 'roamtui[mcp]'")
    from roamtui.headless import mcp as server

    served = ServedLibrary(
        partial(bootstrap.open, args.sources, uses_index=True),
        options=settings.open_section_options(),
        make_searcher=None if settings.retrieval.mode is SearchMode.OFF else bootstrap.make_searcher_factory(),
        read_stamps=FileStamps(args.sources).read,
    )
    write_notices(served.library.notes)
    server.serve(served)
    return 0


@command("serve", _SOURCE, _PORT, *_COMMON)
def serve(args: Namespace) -> int:
    """Serve the app to a browser on this machine only."""
    from roamtui.tui.web_server import run_server

    if args.source == "-":
        raise UsageError("serve needs a file, not standard input.")
    # The browser starts the app with the same arguments. Errors in them must be reported here.
    bootstrap = _make_bootstrap(args)
    _open_and_report(bootstrap, [args.source])
    bootstrap.make_model()
    named = {options.get("dest"): names[0] for names, options in _ARGUMENTS["serve"]}
    flags = [f"{named[_CONFIG + key]}={value}" for key, value in _get_overrides(args).items()]
    flags += ["--no-network"] if args.no_network else []
    flags += [f"--allow-origin={origin}" for origin in args.allow_origin]
    run_server([*flags, "--", args.source], port=args.port or _SERVE_PORT, title=os.path.basename(args.source))  # noqa: PTH119 - an address, too
    return 0


@command("doctor", _JSON, _switch("--clear-cache", "first delete cached pages and converted files"), *_MODEL)
def doctor(args: Namespace) -> int:
    """Check the installation, file locations and available models."""
    from roamtui.headless.doctor import clear_cache, collect_diagnostics, print_diagnosis
    from roamtui.headless.output import write_notices

    if args.clear_cache:
        write_notices([clear_cache()])
    given, problem, options = _get_overrides(args), "", None
    model, api_base = given.get("model"), given.get("api_base")
    try:
        options = _make_bootstrap(args).settings.model_options(model or "")
    except UsageError as error:
        problem = str(error)
    diagnostics = collect_diagnostics(problem, model, api_base=api_base, model_options=options)
    return print_diagnosis(diagnostics, as_json=args.json)


def render_completion(shell: str) -> str:
    """Render the script that completes commands, flags, their values and files in a shell."""
    import shtab

    root, *parsers = (make_parser(name) for name in COMMANDS)
    root._remove_action(root._actions[1])  # noqa: SLF001 - with SOURCE, no command would be offered
    commands = root.add_subparsers(metavar="COMMAND")
    for parser in parsers:
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
            if action.dest in ("source", "sources", "targets") or action.type is _path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        name = parser.prog.rpartition(" ")[2]
        commands.add_parser(name, parents=[parser], add_help=False, help=COMMANDS[name].__doc__)
    # Without a match, bash completes files; zsh offers them beside the commands.
    script = str(shtab.complete(root, shell)).replace("complete -o bashdefault", "complete -o bashdefault -o default")
    return script.replace("'roamtui commands' _commands", "'roamtui commands' _commands; _files")


def _print(text: str) -> int:
    try:
        sys.stdout.buffer.write(text.encode())  # UTF-8 on Windows too
        sys.stdout.flush()
    except BrokenPipeError:
        return 1
    except OSError as error:
        from roamtui.headless.output import OutputError

        raise OutputError(error) from None
    return 0


def _detach_stdout() -> None:
    # Prevents an error message from the interpreter at exit if stdout is closed.
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
