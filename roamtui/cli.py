"""The command line: finds the command, prints help, and reports errors as one sentence.

Modules that only some runs need are imported inside functions, so that `--help` stays fast.
"""

import gc
import os
import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from contextlib import suppress

from roamtui import __version__
from roamtui.commands.app import DEMO, SERVE, add_app_options, run_app
from roamtui.commands.arguments import CommandParser, add_sources_argument
from roamtui.commands.ask import ASK, TABLE
from roamtui.commands.saved import CONVERSATIONS, NOTES, RECHECK
from roamtui.commands.sections import EVAL, INDEX, OUTLINE, SEARCH, SHOW
from roamtui.commands.system import DOCTOR, MCP
from roamtui.errors import EXIT_CANCELLED, RoamtuiError, UsageError, format_file_error, format_nearest_name
from roamtui.program import format_program

_LISTED = (
    DEMO, ASK, OUTLINE, SHOW, SEARCH, INDEX, TABLE, EVAL, CONVERSATIONS, NOTES, RECHECK, MCP, SERVE, DOCTOR,
)  # fmt: skip
COMMANDS = {command.name: command for command in _LISTED}
"""The commands by their names, in the order of the help."""
_DESCRIPTION = """\
Ask questions of a well-organised document. A model reads the outline, opens the
sections that it needs, and answers with quotes, which roamtui checks. Without a
command, the app opens; without SOURCE, it shows a start screen.

commands (`roamtui COMMAND --help` explains each):
{commands}

A file that has the name of a command needs ./ before it: roamtui ./ask"""
_YOUNG_OBJECTS_MAX = 200_000
"""More objects than the app makes before its first screen. A search for garbage would delay it by a fifth."""
_EXAMPLE = "example:\n  {} handbook.md --model openai/gpt-4.1-mini"


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit status: 0 success, 1 failure, 2 wrong use, 130 cancelled."""
    gc.set_threshold(_YOUNG_OBJECTS_MAX)
    arguments = sys.argv[1:] if argv is None else argv
    # Otherwise, the next opened file would take the number of a closed stream. Writing to a closed stdout
    # fails, so that no result is lost unnoticed.
    streams = (("stdin", "r", os.O_RDONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
    for name, mode, flags in streams:
        if getattr(sys, name) is None:
            null = os.open(os.devnull, flags)
            setattr(sys, name, open(null, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - no pathlib here
    try:
        args = parse_arguments(arguments)
        return args.run(args) or 0
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:  # the reader of the output, such as `head`, wants no more
        return 0
    except RoamtuiError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        return _fail(format_file_error(error))
    except Exception as error:  # the last stop before a person would see a traceback
        if os.environ.get("ROAMTUI_DEBUG"):
            raise
        problem = f"internal error ({type(error).__name__}). Rerun with ROAMTUI_DEBUG=1 and report it."
        if isinstance(error, MemoryError):
            problem = "there is not enough memory. Close other programs, or name a smaller document."
        sys.stderr.write(f"roamtui: {problem}\n")
        return 1
    finally:
        _detach_streams()


def _fail(problem: str, exit_code: int = 1) -> int:
    from roamtui.output import warn

    warn(problem)
    return exit_code


def make_parser(name: str) -> CommandParser:
    """Make the parser of a command. An empty name stands for the app."""
    if name:
        return COMMANDS[name].make_parser()
    parser = _make_app_parser()
    add_sources_argument(parser, "*")
    return parser


def _make_app_parser() -> CommandParser:
    """Make the parser of the app without its sources."""
    lines = [f"  {command.name:<14}{command.help.rstrip('.')}" for command in _LISTED]
    parser = CommandParser(
        prog=format_program(),
        description=_DESCRIPTION.format(commands="\n".join(lines)),
        epilog=_EXAMPLE.format(format_program()),
        allow_abbrev=False,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_app_options(parser)
    return parser


def parse_arguments(arguments: list[str]) -> Namespace:
    """Parse the arguments of a command. Its function is `run` in the result. Raise `UsageError`."""
    first = arguments[0] if arguments else ""
    name = first if first in COMMANDS else ""
    rest = arguments[1:] if name else arguments
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if not {"-h", "--help"}.isdisjoint(options):
        return Namespace(run=lambda _: _print(make_parser(name).format_help()))
    if not name and first.isalpha() and not os.path.lexists(first):
        wanted = "search" if first.lower() == "find" else first.lower()  # its spelling is nearer to "index"
        hint = format_nearest_name(wanted, COMMANDS)
        if hint:
            raise UsageError(f'there is no command or file "{first}".{hint}')
    run = COMMANDS[name].run if name else _run_app
    parser = make_parser(name)
    if "--" in rest:
        with suppress(UsageError):  # before Python 3.13, `parse_intermixed_args` drops a leading `--`
            return parser.parse_args(rest, Namespace(run=run))
    return parser.parse_intermixed_args(rest, Namespace(run=run))


def _run_app(args: Namespace) -> int:
    if args.version:
        return _print(f"roamtui {__version__}\n")
    if args.print_completion:
        return _print(_render_completion(args.print_completion))
    return run_app(args)


def _render_completion(shell: str) -> str:
    import shtab

    root = _make_app_parser()  # with its sources, no command would be offered
    root.prog = "roamtui"
    subparsers = root.add_subparsers(metavar="COMMAND")
    for command in _LISTED:
        command.add_arguments(subparsers.add_parser(command.name, help=command.help))
    # Without a match, bash completes files. fish and zsh offer files and commands together.
    script = str(shtab.complete(root, shell)).replace(
        "complete -o bashdefault", "complete -o bashdefault -o default"
    )
    script = script.replace("complete -c roamtui -f\n", "")
    return script.replace("'roamtui commands' _commands", "'roamtui commands' _commands; _files")


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
