"""The command line: one parser and one function for each command, and errors as one sentence.

A command imports its code when it runs, so that `roamtui --help` and other commands stay fast.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from functools import partial
from pathlib import Path

from roamtui.errors import EXIT_CANCELLED, RoamtuiError, UsageError, format_nearest_name

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from roamtui.bootstrap import Bootstrap
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader

_SETTINGS = {
    "--model": "model",
    "--api-base": "api_base",
    "--max-cost": "limits.max_cost_usd",
    "--keep-open": "keep_open.mode",
    "--mode": "retrieval.mode",
    "--embedder": "retrieval.embedder",
    "--index": "retrieval.index",
    "--limit": "retrieval.limit",
}
"""The flags that override a setting, with its key in `config.toml`."""
_KINDS = (
    "Markdown, text, PDF, HTML, EPUB, Office and OpenDocument files, Jupyter notebooks, subtitles; a folder of them; "
    "the https:// address of a site, its llms.txt or a page; - for standard input"
)
_REFERENCES = "a section, its page 2 (07f3277d:2) or a range below it (07f3277d:c2); a title, or 'Fees > Late fees'"
_QUESTION_HELP = "a question (repeatable); its type may follow: [yes/no], [number], [date], [red | green]"
_DESCRIPTION = """\
Ask questions of a well-organised document. A model reads its outline, opens the
sections it needs, and proves its answer with quotes. Without a command, the app
opens; without SOURCE, it shows a start screen.

commands (`roamtui COMMAND --help` explains each):
{commands}

To open a file named like a command, write ./ask."""


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit status: 0 success, 1 failure, 2 wrong use, 130 cancelled."""
    words = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from roamtui.headless.output import open_closed_streams

        open_closed_streams()
    try:
        args = parse_arguments(words)
        return args.run(args) or 0
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:
        return 1
    except (RoamtuiError, OSError) as error:
        from roamtui.headless.output import warn

        warn(str(error) if isinstance(error, RoamtuiError) else f"could not read or write: {error.strerror or error}.")
        return error.exit_code if isinstance(error, RoamtuiError) else 1
    except Exception as error:  # the last stop before a person would see a traceback
        if os.environ.get("ROAMTUI_DEBUG"):
            raise
        kind = type(error).__name__
        sys.stderr.write(f"roamtui: internal error ({kind}). Rerun with ROAMTUI_DEBUG=1 and report it.\n")
        return 1
    finally:
        _detach_stdout()


def _make_shared_parsers() -> list[ArgumentParser]:
    """Make the parsers of the arguments that several commands have, in the order in which `make_parsers` names them."""
    shared = [ArgumentParser(add_help=False) for _ in range(9)]
    source, sources, as_json, jobs, talk, web, cost, model, find = shared
    source.add_argument("source", metavar="SOURCE", help=_KINDS)
    sources.add_argument("sources", metavar="SOURCE", nargs="+", help=f"{_KINDS}; several are opened as one")
    as_json.add_argument("--json", action="store_true", help="as JSON, for other programs")
    jobs.add_argument("--jobs", type=_count, default=1, metavar="N", help="questions to ask at a time (default 1)")
    which = talk.add_mutually_exclusive_group()
    which.add_argument("--continue", dest="conversation", action="store_const", const="", help="resume the latest")
    which.add_argument("--conversation", metavar="ID", help="resume this conversation")
    talk.add_argument("--keep-open", choices=("keep", "fresh"), help="which sections stay open between questions")
    web.add_argument("--no-network", action="store_true", help="use cached pages only")
    web.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL", help="fetch from this site without asking"
    )
    web.add_argument("--ocr", action="store_true", help="read scanned pages of PDFs by tesseract, if installed")
    cost.add_argument("--max-cost", type=float, metavar="USD", help="ask before a conversation costs more")
    model.add_argument("--model", metavar="M", help='"offline" (default), or a name such as openai/gpt-4.1-mini')
    model.add_argument("--api-base", metavar="URL", help="address of the model's server")
    find.add_argument("--mode", choices=("off", "keyword", "vector", "hybrid"), help="how to search")
    find.add_argument("--embedder", metavar="S", help="for vectors: ollama/MODEL, openai/MODEL or local:NAME")
    find.add_argument("--index", metavar="URI", help="a LanceDB database: a folder, s3://… or db://…")
    find.add_argument("--limit", type=_count, metavar="N", help="maximum number of results")
    return shared


def make_parsers() -> dict[str, ArgumentParser]:  # noqa: PLR0915 - a statement for each argument
    """Make the parsers of all commands by their names. That of the app has an empty name."""
    parsers: dict[str, ArgumentParser] = {}

    def add(name: str, run: Callable[[Namespace], int | None], *shared: ArgumentParser) -> ArgumentParser:
        layout = RawDescriptionHelpFormatter
        parser = parsers[name] = ArgumentParser(f"roamtui {name}".strip(), parents=shared, formatter_class=layout)
        parser.description, parser.allow_abbrev = run.__doc__, False
        parser.set_defaults(run=run)
        parser.error = partial(_refuse, parser)  # type: ignore[assignment, method-assign]
        return parser

    source, sources, as_json, jobs, talk, web, cost, model, find = _make_shared_parsers()
    of = add("", app, talk, cost, web, model, find)
    of.add_argument("sources", metavar="SOURCE", nargs="*", help=f"{_KINDS}; several are opened as one")
    of.add_argument("--plain", action="store_true", help="plain text, for screen readers and simple terminals")
    of.add_argument("--watch", action="store_true", help="reload the document when it changes on disk")
    of.add_argument("--print-completion", choices=("bash", "zsh"), help="print a script that completes commands")
    of.add_argument("--version", action="store_true", help="print the version")

    of = add("ask", ask, source, talk, cost, web, model, find)
    of.add_argument("question", type=_decode, metavar="QUESTION", help="in your own words, as one argument")
    of.add_argument("--within", metavar="ID", help="limit the question to this section and its subsections")
    form = of.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the answer and its metadata as JSON")
    form.add_argument("--events", action="store_true", help="print events as JSON lines; the last is the answer")

    add("outline", outline, sources, as_json, web)

    of = add("show", show, source, web)
    of.add_argument("ids", metavar="ID", nargs="+", help=_REFERENCES)

    of = add("search", search, source, as_json, web, model, find)
    of.add_argument("query", type=_decode, metavar="QUERY", help="words")

    of = add("index", index, sources, web, model, find)
    of.add_argument("--delete", action="store_true", help="delete the index")
    of.add_argument("--summaries", action="store_true", help="let the model describe each document; asks first")
    of.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    of = add("table", table, sources, jobs, cost, web, model, find)
    of.add_argument("-q", dest="questions", type=_decode, action="append", default=[], metavar="Q", help=_QUESTION_HELP)
    of.add_argument("--questions", dest="file", type=Path, metavar="FILE", help="a TOML file of more questions")
    of.add_argument("-o", dest="output", type=Path, metavar="FILE", help="write FILE.csv, .md or .json")
    of.add_argument("--folder", type=Path, metavar="DIR", help="where to keep the table (default: by its sources)")

    of = add("eval", evaluate, jobs, as_json, model, find)
    of.add_argument("questions", type=Path, metavar="QUESTIONS", help="file with one JSON object per line")
    of.add_argument("--docs", type=Path, metavar="DIR", required=True, help="folder of the documents")
    of.add_argument("--scope", choices=("doc", "all"), default="doc", help="search one document, or the folder")
    of.add_argument("--questions-out", type=Path, metavar="FILE", help="a new file for the result of each question")

    of = add("conversations", conversations)
    of.add_argument("action", nargs="?", default="list", choices=("list", "show", "export", "delete"))
    of.add_argument("id", nargs="?", metavar="ID", help="from the list; its beginning is enough")
    of.add_argument("--format", choices=("md", "json", "html"), default="md", help="html is a page that replays it")
    of.add_argument("--all", action="store_true", help="list those of `roamtui ask` too")

    of = add("notes", notes, web)
    of.add_argument("source", metavar="SOURCE", nargs="?", help="the document, or its name as listed")
    of.add_argument("--delete", action="store_true", help="delete all notes on it permanently")

    of = add("recheck", recheck, as_json, web)
    of.add_argument("targets", metavar="ID|FILE", nargs="*", help="conversations, Markdown files with quotes, tables")
    of.add_argument("--all", action="store_true", help="every saved conversation")
    of.add_argument("--source", metavar="NEW", help="check against this source instead of the recorded one")

    add("mcp", mcp, sources, web, find)

    of = add("serve", serve, source)
    of.add_argument("--port", type=_count, default=8000, metavar="N", help="port on this machine")

    of = add("doctor", doctor, as_json, model)
    of.add_argument("--clear-cache", action="store_true", help="first delete cached pages and converted files")

    lines = [f"  {name:<14}{(parser.description or '').rstrip('.')}" for name, parser in parsers.items() if name]
    parsers[""].description = _DESCRIPTION.format(commands="\n".join(lines))
    return parsers


def parse_arguments(words: list[str]) -> Namespace:
    """Parse the arguments of a command, whose function is `run`.

    Raises:
        UsageError: The arguments are invalid.
    """
    parsers = make_parsers()
    name, *rest = words if words and words[0] in parsers else ["", *words]
    if not {"-h", "--help"}.isdisjoint(words):
        return Namespace(run=lambda _: _print(parsers[name].format_help()))
    is_word = not name and bool(words) and words[0].isalpha()
    if is_word and not os.path.lexists(words[0]) and (hint := format_nearest_name(words[0].lower(), parsers)):
        raise UsageError(f'there is no command or file "{words[0]}".{hint}')
    return parsers[name].parse_intermixed_args(rest)


def _refuse(parser: ArgumentParser, message: str) -> None:
    start, _, unknown = message.partition("unrecognized arguments: ")
    flag = unknown.partition(" ")[0].partition("=")[0]
    if not start and flag.startswith("-"):
        message = f"there is no option {flag}.{format_nearest_name(flag, parser._option_string_actions)}"  # noqa: SLF001 - no other list
    raise UsageError(f"{message.rstrip('.')}{'' if message.endswith('?') else '.'} See `{parser.prog} --help`.")


def _count(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise ArgumentTypeError("must be a whole number of 1 or more")


def _decode(text: str) -> str:
    # Bytes that the locale cannot decode are read as UTF-8, or replaced.
    return os.fsencode(text).decode("utf-8", "replace")


def get_overrides(args: Namespace) -> dict[str, Any]:
    """Return the settings that the arguments override. An empty text, as from an unset variable, overrides nothing."""
    given = {key: getattr(args, flag[2:].replace("-", "_"), None) for flag, key in _SETTINGS.items()}
    return {key: value for key, value in given.items() if value not in (None, "")}


def _make_bootstrap(args: Namespace) -> Bootstrap:
    from roamtui.bootstrap import Bootstrap
    from roamtui.settings import load_settings

    settings = load_settings(get_overrides(args))
    if "no_network" not in args:
        return Bootstrap(settings=settings)
    origins = tuple(args.allow_origin)
    return Bootstrap(settings=settings, is_offline=args.no_network, allowed_origins=origins, reads_scans=args.ocr)


def _open(args: Namespace, *, uses_index: bool = False) -> tuple[Bootstrap, Library, Loader | None]:
    """Open the sources of a command with all their files, and write what went wrong to stderr."""
    from roamtui.headless.output import write_notices

    bootstrap, sources = _make_bootstrap(args), args.sources if "sources" in args else [args.source]
    library, loader = bootstrap.open(sources, load_all=True, uses_index=uses_index)
    write_notices(library.notes)
    return bootstrap, library, loader


def app(args: Namespace) -> int:
    """Open documents in the app."""
    if args.version:
        from roamtui import __version__

        return _print(f"roamtui {__version__}\n")
    if args.print_completion:
        return _print(render_completion(args.print_completion))
    from roamtui.launch import Launch

    return Launch(
        bootstrap=_make_bootstrap(args),
        sources=tuple(args.sources),
        conversation_id=args.conversation,
        is_plain=args.plain,
        is_watching=args.watch,
    ).run()


def ask(args: Namespace) -> int:
    """Ask one question and print a cited answer."""
    import asyncio

    from roamtui.headless.ask import run_ask

    if not args.question.strip():
        raise UsageError("the question is empty.")
    bootstrap, library, loader = _open(args, uses_index=True)
    agent = bootstrap.make_agent(bootstrap.start_conversation(library, loader, args.conversation))
    agent.conversation.is_one_shot = True
    within = args.within.strip("[]") if args.within else None
    output_format = "events" if args.events else "json" if args.json else "text"
    answering = run_ask(agent, args.question, within, is_watched=sys.stderr.isatty(), output_format=output_format)
    return asyncio.run(answering)


def outline(args: Namespace) -> None:
    """Print the outline exactly as the model reads it."""
    from roamtui.headless.sections import print_outline

    print_outline(_open(args, uses_index=True)[1], as_json=args.json)


def show(args: Namespace) -> None:
    """Print the source text of sections and their subsections."""
    from roamtui.headless.sections import print_sections

    _, library, loader = _open(args)
    print_sections(library, loader, args.ids)


def search(args: Namespace) -> None:
    """Print the sections that best match a query."""
    from roamtui.headless.hits import print_hits

    bootstrap, library, _ = _open(args)
    options = bootstrap.settings.retrieval
    searcher = bootstrap.make_searcher_factory()(library)
    if searcher is None:
        raise UsageError("search is off. Set --mode to keyword, vector or hybrid.")
    hits = searcher.search(args.query, limit=options.limit or 10)
    print_hits(library, hits, options.mode, as_json=args.json)


def index(args: Namespace) -> None:
    """Build or update the search index of a source on disk."""
    from roamtui.headless.index import run_index

    bootstrap, library, _ = _open(args)
    services = bootstrap.make_search_services(needs_vectors=True)
    model = bootstrap.make_model() if args.summaries else None
    run_index(library, bootstrap.settings.retrieval, services, model, delete=args.delete, assume_yes=args.yes)


def table(args: Namespace) -> int:
    """Ask the same questions about many documents."""
    from roamtui.headless.table import run_table
    from roamtui.table.columns import parse_question, read_columns

    columns = [*map(parse_question, args.questions), *(read_columns(args.file) if args.file is not None else ())]
    filled = _make_bootstrap(args).make_table(tuple(args.sources), columns, folder=args.folder, jobs=args.jobs)
    return run_table(*filled, args.output)


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
        model=bootstrap.make_model() if args.model else None,
        agent_options=bootstrap.agent_options,
        jobs=args.jobs,
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
    from roamtui.headless.notes import list_notes, print_notes

    if args.source is not None:
        print_notes(args.source, _make_bootstrap(args).reopen, delete=args.delete)
    elif args.delete:
        raise UsageError("--delete needs a SOURCE.")
    else:
        list_notes()


def recheck(args: Namespace) -> int:
    """Check whether saved quotes are still there; exit 1 if not."""
    from roamtui.headless.recheck import run_recheck

    if bool(args.targets) == args.all:
        raise UsageError("give conversation ids, Markdown files or tables, or --all.")
    return run_recheck(args.targets, _make_bootstrap(args).reopen, args.source or None, as_json=args.json)


def mcp(args: Namespace) -> None:
    """Serve the model's tools over the Model Context Protocol."""
    if "-" in args.sources:
        raise UsageError("cannot read the document from standard input, where the client speaks. Give a file.")
    try:
        from roamtui.headless.mcp import run_server
    except ModuleNotFoundError:
        problem = "`roamtui mcp` needs an extra. Install it with: pip install 'roamtui[mcp]'"
        raise RoamtuiError(problem) from None
    bootstrap = _make_bootstrap(args)
    settings = bootstrap.settings
    make_searcher = bootstrap.make_searcher_factory() if settings.retrieval.mode != "off" else None
    opener = partial(bootstrap.open, uses_index=True)
    run_server(args.sources, opener, settings.open_section_options(), make_searcher)


def serve(args: Namespace) -> None:
    """Serve the app to a browser on this machine only."""
    from roamtui.tui.web_server import run_server

    if args.source == "-":
        raise UsageError("serve needs a file, not standard input.")
    _open(args)[0].make_model()  # errors must be reported here, because the browser starts the app
    run_server(["--", args.source], port=args.port, title=os.path.basename(args.source))  # noqa: PTH119 - an address, too


def doctor(args: Namespace) -> int:
    """Check the installation, file locations and available models."""
    from roamtui.headless.doctor import clear_cache, collect_diagnostics, print_diagnosis

    if args.clear_cache:
        clear_cache()
    options = _make_bootstrap(args).settings.model_options(args.model or "")
    diagnostics = collect_diagnostics(args.model or None, api_base=args.api_base, model_options=options)
    return print_diagnosis(diagnostics, as_json=args.json)


def render_completion(shell: str) -> str:
    """Render the script that completes commands, flags, their values and files in a shell."""
    import shtab

    parsers = make_parsers()
    root = parsers.pop("")
    root._remove_action(next(action for action in root._actions if action.dest == "sources"))  # noqa: SLF001 - with SOURCE, no command would be offered
    commands = root.add_subparsers(metavar="COMMAND")
    for name, parser in parsers.items():
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
            if action.dest in ("source", "sources", "targets") or action.metavar in ("FILE", "DIR", "QUESTIONS"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    # Without a match, bash completes files; zsh offers them beside the commands.
    script = str(shtab.complete(root, shell)).replace("complete -o bashdefault", "complete -o bashdefault -o default")
    return script.replace("'roamtui commands' _commands", "'roamtui commands' _commands; _files")


def _print(text: str) -> int:
    sys.stdout.buffer.write(text.encode())  # UTF-8 on Windows too
    sys.stdout.flush()
    return 0


def _detach_stdout() -> None:
    # Prevents an error message from the interpreter at exit if stdout is closed.
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
