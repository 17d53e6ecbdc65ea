"""The command line: one parser and one function for each command, and errors as one sentence.

A command imports its code when it runs, so that `roamtui --help` and other commands stay fast.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from functools import partial

from roamtui import __version__
from roamtui.errors import EXIT_CANCELLED, RoamtuiError, UsageError, format_nearest_name, format_reason

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from roamtui.bootstrap import Bootstrap
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader

_KINDS = (
    "a file (Markdown, text, PDF, HTML, EPUB, Office, OpenDocument, Jupyter notebook or subtitles), a folder of such "
    "files, the URL of a site or of a page, or - for standard input"
)
_REFERENCES = "a section, its page 2 (07f3277d:2) or a range below it (07f3277d:c2); a title, or 'Fees > Late fees'"
_MISSING_EXTRA = "`roamtui {0}` needs an extra. Install it with: pip install 'roamtui[{0}]'"
_QUESTION_HELP = "a question (repeatable); its type may follow: [yes/no], [number], [date], [red | green]"
_DESCRIPTION = """\
Ask questions of a well-organised document. A model reads the outline, opens the
sections that it needs, and answers with quotes, which roamtui checks. Without a
command, the app opens; without SOURCE, it shows a start screen.

commands (`roamtui COMMAND --help` explains each):
{commands}

A file that has the name of a command needs ./ before it: roamtui ./ask"""


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit status: 0 success, 1 failure, 2 wrong use, 130 cancelled."""
    words = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from roamtui.headless.output import open_closed_streams

        open_closed_streams()
    try:
        _leave_deleted_folder()
        args = parse_arguments(words)
        return args.run(args) or 0
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:  # the reader of the output, such as `head`, has enough
        return 0
    except RoamtuiError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        file = f" {error.filename}" if error.filename is not None else ""
        return _fail(f"could not read or write{file}: {format_reason(error)}.")
    except Exception as error:  # the last stop before a person would see a traceback
        if os.environ.get("ROAMTUI_DEBUG"):
            raise
        kind = type(error).__name__
        sys.stderr.write(f"roamtui: internal error ({kind}). Rerun with ROAMTUI_DEBUG=1 and report it.\n")
        return 1
    finally:
        _detach_streams()


def _leave_deleted_folder() -> None:
    """Go to the home folder if the working folder was deleted, because libraries fail there with whole paths too."""
    try:
        os.getcwd()  # noqa: PTH109 - pathlib would delay `--help`
    except FileNotFoundError:
        from roamtui.headless.output import warn

        home = os.path.expanduser("~")  # noqa: PTH111
        os.chdir(home)
        warn(f"this folder was deleted, so paths are taken from {home}.")


def _fail(problem: str, exit_code: int = 1) -> int:
    from roamtui.headless.output import warn

    warn(problem)
    return exit_code


def _add_shared_arguments(of: ArgumentParser, wanted: Sequence[str]) -> None:
    """Add the arguments that several commands have. Those that a command does not want go to a parser nobody uses."""
    names, unused = ("source", "sources", "json", "talk", "web", "cost", "model", "find"), ArgumentParser()
    source, sources, as_json, talk, web, cost, model, find = (of if name in wanted else unused for name in names)
    source.add_argument("source", metavar="SOURCE", help=_KINDS)
    sources.add_argument("sources", metavar="SOURCE", nargs="+", help=f"{_KINDS}; several sources become one outline")
    as_json.add_argument("--json", action="store_true", help="as JSON, for other programs")
    resume = talk.add_mutually_exclusive_group().add_argument
    resume("--continue", dest="conversation", action="store_const", const="", help="resume the last conversation")
    resume("--conversation", metavar="ID", help="resume the one with this id")
    talk.add_argument("--keep-open", choices=("keep", "fresh"), help="leave sections open between questions, or not")
    web.add_argument("--no-network", action="store_true", help="use cached pages only")
    web.add_argument("--allow-origin", action="append", default=[], metavar="URL", help="fetch it without asking")
    web.add_argument("--ocr", action="store_true", help="read scanned pages of PDFs with tesseract")
    cost.add_argument("--max-cost", type=float, metavar="USD", help="spending limit of the conversation or table")
    model.add_argument("--model", metavar="M", help='"offline" (default), or a model such as openai/gpt-4.1-mini')
    model.add_argument("--api-base", metavar="URL", help="address of the model's server")
    find.add_argument("--mode", choices=("off", "keyword", "vector", "hybrid"), help="how to search")
    find.add_argument("--embedder", metavar="S", help="model for vectors: ollama/MODEL, openai/MODEL or local:FOLDER")
    find.add_argument("--index", metavar="URI", help="a LanceDB database for vectors: a folder, s3://… or db://…")
    find.add_argument("--limit", type=_count, metavar="N", help="maximum number of search results")


def make_parser(name: str) -> ArgumentParser:  # noqa: PLR0912, PLR0915 - a branch for each command, a line for each argument
    """Make the parser of a command, or with an empty name, of the app."""
    run, shared = COMMANDS[name]
    of = ArgumentParser(
        prog=f"roamtui {name}".strip(),
        description=run.__doc__,
        allow_abbrev=False,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _add_shared_arguments(of, shared)
    of.error = partial(_refuse, of)  # type: ignore[assignment, method-assign]
    add = of.add_argument
    match name:
        case "":
            add("sources", metavar="SOURCE", nargs="*", help=f"{_KINDS}; several sources become one outline")
            add("--plain", action="store_true", help="plain text, for screen readers and simple terminals")
            add("--watch", action="store_true", help="reload the document when it changes on disk")
            add("--print-completion", choices=("bash", "zsh"), help="print a script that completes commands")
            add("--version", action="store_true", help="print the version")
        case "ask":
            add(
                "question",
                type=_decode,
                metavar="QUESTION",
                help="in your own words, as one argument; put -- before one such as --help",
            )
            add("--within", metavar="ID", help="limit the question to this section and its subsections")
            add("--strict", action="store_true", help="exit status 1 unless all quotes are in the text")
            form = of.add_mutually_exclusive_group()
            form.add_argument("--json", action="store_true", help="print the answer and its metadata as JSON")
            form.add_argument("--events", action="store_true", help="print events as JSON lines, the answer last")
        case "show":
            add("ids", metavar="ID", nargs="+", help=_REFERENCES)
        case "search":
            add("query", type=_decode, metavar="QUERY", help="words")
        case "index":
            add("--delete", action="store_true", help="delete the index")
            add("--summaries", action="store_true", help="let the model describe each document; asks first")
            add("--yes", action="store_true", help="do not ask for confirmation")
        case "table":
            add("-q", dest="questions", type=_decode, action="append", default=[], metavar="Q", help=_QUESTION_HELP)
            add("--questions", dest="file", type=_to_path, metavar="FILE", help="a TOML file of more questions")
            add("-o", dest="output", type=_to_path, metavar="FILE", help="write FILE.csv, .md or .json")
            add("--jobs", type=_count, default=1, metavar="N", help="questions to ask at a time (default 1)")
            add("--folder", type=_to_path, metavar="DIR", help="where to keep the table (default: by its sources)")
        case "eval":
            add("questions", type=_to_path, metavar="QUESTIONS", help="file with one JSON object per line")
            add("--docs", type=_to_path, metavar="DIR", required=True, help="folder of the documents")
            add("--scope", choices=("doc", "all"), default="doc", help="search one document, or the folder")
            add("--questions-out", type=_to_path, metavar="FILE", help="a new file for the result of each question")
        case "conversations":
            add("action", nargs="?", default="list", choices=("list", "show", "export", "delete"))
            add("id", nargs="?", metavar="ID", help="from the list")
            add("--format", choices=("md", "json", "html"), default="md", help="html is a page that replays it")
            add("--all", action="store_true", help="list those of `roamtui ask` too")
        case "notes":
            add("source", metavar="SOURCE", nargs="?", help="the document, or its name as listed")
            add("--delete", action="store_true", help="delete all notes on it permanently")
        case "recheck":
            add("targets", metavar="ID|FILE", nargs="*", help="conversations, tables, exports, texts with quotes")
            add("--all", action="store_true", help="every saved conversation")
            add("--in", dest="within", metavar="SOURCE", help="look in this source, not in the recorded one")
        case "serve":
            add("--port", type=_count, default=8000, metavar="N", help="port on this machine")
        case "doctor":
            add("--clear-cache", action="store_true", help="first delete cached pages and converted files")
        case _:
            pass
    if not name:
        lines = [f"  {each:<14}{(run.__doc__ or '').rstrip('.')}" for each, (run, _) in COMMANDS.items() if each]
        of.description = _DESCRIPTION.format(commands="\n".join(lines))
    return of


def parse_arguments(words: list[str]) -> Namespace:
    """Parse the arguments of a command, whose function is `run` in the result.

    Raises:
        UsageError: The arguments are invalid.
    """
    name, *rest = words if words and words[0] in COMMANDS else ["", *words]
    options = words[: words.index("--")] if "--" in words else words
    if not {"-h", "--help"}.isdisjoint(options):
        return Namespace(run=lambda _: _print(make_parser(name).format_help()))
    is_word = not name and bool(words) and words[0].isalpha()
    if is_word and not os.path.lexists(words[0]) and (hint := format_nearest_name(words[0].lower(), COMMANDS)):
        raise UsageError(f'there is no command or file "{words[0]}".{hint}')
    return make_parser(name).parse_intermixed_args(rest, Namespace(run=COMMANDS[name][0]))


def _refuse(parser: ArgumentParser, message: str) -> None:
    raise UsageError(f"{message.rstrip('.')}. See `{parser.prog} --help`.")


def _count(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise ArgumentTypeError("must be a whole number of 1 or more")


def _decode(text: str) -> str:
    # Bytes that the locale cannot decode are read as UTF-8, or replaced.
    return os.fsencode(text).decode("utf-8", "replace")


def _to_path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


def _make_bootstrap(args: Namespace) -> Bootstrap:
    from roamtui.bootstrap import Bootstrap
    from roamtui.settings import list_overrides, load_settings

    settings = load_settings(list_overrides(vars(args)))
    if "no_network" not in args:
        return Bootstrap(settings=settings)
    origins = tuple(args.allow_origin)
    return Bootstrap(settings=settings, is_offline=args.no_network, allowed_origins=origins, reads_scans=args.ocr)


def _open(args: Namespace) -> tuple[Bootstrap, Library, Loader | None]:
    """Open the sources of a command with all their files, and write what went wrong to stderr."""
    from roamtui.headless.output import write_notice

    bootstrap, sources = _make_bootstrap(args), args.sources if "sources" in args else [args.source]
    library, loader = bootstrap.open(sources, load_all=True)
    write_notice(*library.notes)
    return bootstrap, library, loader


def app(args: Namespace) -> int:
    """Open documents in the app."""
    if args.version:
        return _print(f"roamtui {__version__}\n")
    if args.print_completion:
        return _print(_render_completion(args.print_completion))
    from roamtui.launch import Launch

    return Launch(
        bootstrap=_make_bootstrap(args),
        sources=tuple(args.sources),
        conversation_id=args.conversation,
        is_plain=args.plain,
        is_watching=args.watch,
    ).run()


def _render_completion(shell: str) -> str:
    """Render the script that completes commands, flags, their values and files in a shell."""
    import shtab

    root = make_parser("")
    root._remove_action(next(action for action in root._actions if action.dest == "sources"))  # noqa: SLF001 - with SOURCE, no command would be offered
    commands = root.add_subparsers(metavar="COMMAND")
    for name in filter(None, COMMANDS):
        parser = commands.add_parser(name, parents=[make_parser(name)], add_help=False, help=COMMANDS[name][0].__doc__)
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
            if action.dest in ("source", "sources", "targets") or action.type is _to_path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    # Without a match, bash completes files; zsh offers them beside the commands.
    script = str(shtab.complete(root, shell)).replace("complete -o bashdefault", "complete -o bashdefault -o default")
    return script.replace("'roamtui commands' _commands", "'roamtui commands' _commands; _files")


def demo(args: Namespace) -> int:
    """Watch a recorded answer in the app: sections open, and quotes are checked."""
    from roamtui.launch import make_demo

    return make_demo(_make_bootstrap(args)).run()


def ask(args: Namespace) -> int:
    """Ask one question and print a cited answer."""
    import asyncio

    from roamtui.headless.ask import run_ask

    if not args.question.strip():
        raise UsageError("the question is empty.")
    bootstrap, library, loader = _open(args)
    agent = bootstrap.make_agent(bootstrap.start_conversation(library, loader, args.conversation))
    agent.conversation.is_one_shot = True
    within = args.within.strip("[]") if args.within else None
    form = "events" if args.events else "json" if args.json else "text"
    status = asyncio.run(run_ask(agent, args.question, within, is_watched=sys.stderr.isatty(), output_format=form))
    return status or int(args.strict and not agent.conversation.state.exchanges[-1].is_proven)


def outline(args: Namespace) -> None:
    """Print the outline exactly as the model reads it."""
    from roamtui.headless.sections import print_outline

    print_outline(_open(args)[1], as_json=args.json)


def show(args: Namespace) -> None:
    """Print the source text of sections and their subsections."""
    from roamtui.headless.sections import print_sections

    _, library, loader = _open(args)
    print_sections(library, loader, args.ids)


def search(args: Namespace) -> int:
    """Print the sections that best match a query; exit 1 if there is none."""
    from roamtui.headless.sections import print_hits, search_with_pages

    if not args.query.strip():
        raise UsageError("the query is empty.")
    bootstrap, library, loader = _open(args)
    options = bootstrap.settings.retrieval
    searcher = bootstrap.make_searcher_factory()(library)
    if searcher is None:
        raise UsageError("search is off. Set --mode to keyword, vector or hybrid.")
    library, hits = search_with_pages(library, loader, searcher, args.query, limit=options.limit or 10)
    print_hits(library, hits, options.mode, as_json=args.json)
    return int(not hits)


def index(args: Namespace) -> None:
    """Build or update the search index of a source on disk."""
    from roamtui.headless.index import delete_source_index, run_index

    bootstrap, library, _ = _open(args)
    options = bootstrap.settings.retrieval
    if args.delete:
        delete_source_index(library, options)
        return
    services = bootstrap.make_search_services(needs_vectors=True)
    model = bootstrap.make_model() if args.summaries else None
    run_index(library, options, services, model, assume_yes=args.yes)


def table(args: Namespace) -> int:
    """Ask the same questions about many documents."""
    from roamtui.headless.table import run_table

    bootstrap, options = _make_bootstrap(args), {"folder": args.folder, "jobs": args.jobs}
    return run_table(*bootstrap.make_table(args.sources, args.questions, args.file, **options), args.output)


def evaluate(args: Namespace) -> int:
    """Measure search, or with --model answers, on your own questions."""
    from roamtui.evaluation.runner import EvalPlan
    from roamtui.headless.evaluate import run_evaluation

    bootstrap = _make_bootstrap(args)
    plan = EvalPlan(
        docs=args.docs,
        scope=args.scope,
        mode=bootstrap.settings.retrieval.mode,
        open_library=lambda path: bootstrap.open((str(path),), load_all=True)[0],
        make_searcher=bootstrap.make_searcher_factory(needs_vectors=True),
        model=bootstrap.make_model() if args.model else None,
        agent_options=bootstrap.agent_options,
    )
    return run_evaluation(args.questions, plan, args.questions_out, as_json=args.json)


def conversations(args: Namespace) -> None:
    """List, show, export or delete saved conversations."""
    from roamtui.headless.conversations import delete_conversation, print_conversation, print_conversations

    if (args.id is None) != (args.action == "list"):
        raise UsageError(f"{args.action} takes {'no' if args.action == 'list' else 'the'} ID of a conversation.")
    if args.id is None:
        print_conversations(as_json=args.format == "json", lists_one_shots=args.all)
    elif args.action == "delete":
        delete_conversation(args.id)
    else:  # show and export are the same: both write to stdout
        print_conversation(args.id, args.format, _make_bootstrap(args).reopen)


def notes(args: Namespace) -> None:
    """Print your notes on a document, or list documents with notes."""
    from roamtui.headless.conversations import list_notes, print_notes

    if args.source is not None:
        print_notes(args.source, _make_bootstrap(args).reopen, delete=args.delete)
    elif args.delete:
        raise UsageError("--delete needs a SOURCE.")
    else:
        list_notes()


def recheck(args: Namespace) -> int:
    """Check whether quotes are still in their documents; exit 1 if not."""
    from roamtui.headless.recheck import run_recheck

    if bool(args.targets) == args.all:
        raise UsageError("give conversation ids, files with quotes or tables, or --all.")
    return run_recheck(args.targets, _make_bootstrap(args).reopen, args.within or None, as_json=args.json)


def mcp(args: Namespace) -> None:
    """Serve the model's tools over the Model Context Protocol."""
    if "-" in args.sources:
        raise UsageError("cannot read the document from standard input, where the client speaks. Give a file.")
    try:
        from roamtui.headless.mcp import McpSession, run_server
    except ModuleNotFoundError:
        raise RoamtuiError(_MISSING_EXTRA.format("mcp")) from None
    bootstrap = _make_bootstrap(args)
    make_searcher = bootstrap.make_searcher_factory() if bootstrap.settings.retrieval.mode != "off" else None
    read, options = partial(bootstrap.open, args.sources), bootstrap.settings.open_section_options()
    run_server(McpSession(read, options, make_searcher, args.sources))


def serve(args: Namespace) -> None:
    """Serve the app to a browser on this machine only."""
    try:
        from roamtui.tui.web_server import run_server
    except ModuleNotFoundError:
        raise RoamtuiError(_MISSING_EXTRA.format("serve")) from None
    if args.source == "-":
        raise UsageError("serve needs a file, not standard input.")
    _open(args)[0].make_model()  # errors must be reported here, because the browser starts the app
    run_server(["--", args.source], port=args.port, title=os.path.basename(args.source))  # noqa: PTH119 - an address, too


def doctor(args: Namespace) -> int:
    """Check the installation, file locations and available models."""
    from roamtui.headless.doctor import clear_cache, run_doctor
    from roamtui.settings import Settings, list_overrides, load_settings

    if args.clear_cache:
        clear_cache()
    fault = ""
    try:
        settings = load_settings(list_overrides(vars(args)))
    except UsageError as error:
        settings, fault = Settings(), str(error)
    options = settings.model_options(args.model or "")
    return run_doctor(args.model or None, args.api_base, options, settings.retrieval.meaning, fault)


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode())  # UTF-8 on Windows too
    sys.stdout.flush()
    return 0


def _detach_streams() -> None:
    # Prevents an error of the interpreter at exit if a stream is closed or its disk is full.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


COMMANDS: dict[str, tuple[Callable[[Namespace], int | None], tuple[str, ...]]] = {
    "": (app, ("talk", "cost", "web", "model", "find")),
    "demo": (demo, ()),
    "ask": (ask, ("source", "talk", "cost", "web", "model", "find")),
    "outline": (outline, ("sources", "json", "web")),
    "show": (show, ("source", "web")),
    "search": (search, ("source", "json", "web", "model", "find")),
    "index": (index, ("sources", "web", "model", "find")),
    "table": (table, ("sources", "cost", "web", "model", "find")),
    "eval": (evaluate, ("json", "model", "find")),
    "conversations": (conversations, ()),
    "notes": (notes, ("web",)),
    "recheck": (recheck, ("json", "web")),
    "mcp": (mcp, ("sources", "web", "find")),
    "serve": (serve, ("source",)),
    "doctor": (doctor, ("model",)),
}
"""The function of each command, and the arguments that it shares with others. That of the app has an empty name."""
