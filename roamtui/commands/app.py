"""`roamtui`, `demo` and `serve`: the app in a terminal or a browser."""

import os
from argparse import Namespace

from roamtui.commands.arguments import (
    MISSING_EXTRA,
    Command,
    CommandParser,
    NumberRange,
    add_answering_arguments,
    add_conversation_arguments,
    add_source_argument,
    make_bootstrap,
    refuse_unused,
)
from roamtui.errors import RoamtuiError, UsageError


def add_app_options(parser: CommandParser) -> None:
    """Add the options of the app, but not its sources: in their place, a shell completes commands."""
    add_conversation_arguments(parser)
    add_answering_arguments(parser)
    parser.add_flag("--plain", "plain text, for screen readers and simple terminals")
    parser.add_flag("--watch", "reload the document when it changes on disk")
    help_text = "print a script that completes commands"
    parser.add_argument("--print-completion", choices=("bash", "fish", "zsh"), help=help_text)
    parser.add_flag("--version", "print the version")


def run_app(args: Namespace) -> int:
    """Open documents in the app."""
    from roamtui.launch import Launch

    if args.plain:
        refuse_unused({"--watch": args.watch}, "with --plain")
    return Launch(
        bootstrap=make_bootstrap(args),
        sources=tuple(args.sources),
        conversation_id=args.conversation,
        is_plain=args.plain,
        is_watching=args.watch,
    ).run()


def _run_demo(args: Namespace) -> int:
    """Watch a recorded answer in the app: sections open, and quotes are checked."""
    from roamtui.launch import EXAMPLE, Launch
    from roamtui.models.recorded import RecordedModel

    return Launch(bootstrap=make_bootstrap(args), sources=(str(EXAMPLE),), model=RecordedModel()).run()


def _add_port(parser: CommandParser) -> None:
    parser.add_number("--port", "port on this machine", NumberRange(1, 65_535), default=8000)


def _run_serve(args: Namespace) -> None:
    """Serve the app to a browser on this machine only."""
    from roamtui.paths import is_standard_input

    try:
        from roamtui.tui.web_server import run_web_server
    except ModuleNotFoundError:
        raise RoamtuiError(MISSING_EXTRA.format("serve")) from None
    if is_standard_input(args.source):
        raise UsageError("`roamtui serve` cannot read a document from standard input. Name a file.")
    bootstrap = make_bootstrap(args)
    # Errors must be reported here, because the browser starts the app.
    bootstrap.open([args.source])
    bootstrap.make_model()
    title = os.path.basename(os.path.abspath(args.source))  # noqa: PTH100, PTH119 - a URL, too
    run_web_server(["--", args.source], port=args.port, title=title)


DEMO = Command("demo", _run_demo, "")
SERVE = Command("serve", _run_serve, "handbook.md --port 8080", add_source_argument, _add_port)
