"""The command line: the one front end that wires all layers.

This module imports almost nothing, so that `roamtui --help` is quick: each command's code is imported when it runs.
"""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from roamtui.cli_commands import Command
    from roamtui.option_fields import AppArguments

HELP = """\
usage: roamtui [SOURCE] [--model M] [--continue]
       roamtui COMMAND ...

Ask questions of a well-organised document. A model reads its outline, opens the
sections it needs, and proves its answer with quotes. Without a command, the app opens.

SOURCE is a Markdown or text file, a folder or zip archive of them, the https:// address
of a site, its llms.txt or a page, or - for standard input. The app, `index` and `outline`
open several files and folders as one. Without SOURCE, the app shows what there is to open.

commands:
  outline SOURCE [--json] [--budget N]    the text that the model reads, or every section
  show SOURCE ID...                       raw text of sections, pages and ranges
  ask SOURCE QUESTION [--json|--events]   one question, one cited answer
  search SOURCE QUERY [--mode M]          ranked sections
  index SOURCE... [--to URI]              the search index of a large source, kept on disk
  eval QUESTIONS --docs DIR [--model M]   measure search and answers on your own questions
  check SOURCE [--format github]          what makes a document hard to roam
  conversations [list|show|export|delete] saved conversations
  notes [SOURCE] [--delete]               what you kept of a document, as Markdown
  record SOURCE QUESTION... -o FILE       the app asking them, as a .svg that moves or a .cast
  recheck [ID|FILE.md|--all] [--json]     whether the quotes of answers still stand
  serve SOURCE [--port N]                 the app in a browser, on this machine alone
  mcp SOURCE... [--http]                  the same tools for other programs, over MCP
  cache [show|clear]                      what is kept that can be had again, such as pages
  preferences [--edit]                    how you want to be answered, as the model is told
  doctor [--model M]                      what is installed, which models are usable

options:
  --model M        offline (default), or any litellm name such as openai/gpt-4.1-mini
  --api-base URL   address of the model's server
  --continue       go on with the newest conversation about SOURCE
  --plain          lines of text, for a screen reader or a simple terminal
  --no-network     only pages that were fetched before
  --allow-origin U a further site that pages may be fetched from
  --max-cost USD   what the conversation may cost before you are asked
  --trace FILE     write down all that happens; --model recorded:FILE replays it
  -h, --help       this text; after a command, all its options
  --version        the version

A file that has a command's name is opened as ./ask.
"""
_INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run the program and return its exit status: 0 done, 1 failed, 2 wrong use, 130 cancelled."""
    arguments = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from roamtui.headless.output import open_closed_streams

        open_closed_streams()
    if arguments and arguments[0] in ("-h", "--help"):
        return _print(HELP)
    if arguments == ["--version"]:
        from roamtui import __version__

        return _print(f"roamtui {__version__}\n")
    return _run(arguments)


def _run(arguments: list[str]) -> int:
    from roamtui.errors import RoamtuiError

    gc.disable()  # until all is loaded: what imports make is never garbage
    try:
        given = parse_command_line(arguments)
        from roamtui.option_fields import AppArguments

        if isinstance(given, AppArguments):
            from roamtui.launch import run_app

            return run_app(given)
        gc.enable()
        return given.run()
    except RoamtuiError as error:
        from roamtui.headless.output import write_note

        write_note(f"roamtui: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - the last stop before a person would see a traceback
        return _report_defect(error)
    finally:
        gc.enable()
        _detach_stdout()


def parse_command_line(words: list[str]) -> AppArguments | Command:
    """Return what was asked for: a command, else the app."""
    from roamtui.option_fields import AppArguments

    if len(words) == 1 and not words[0].startswith("-") and any(mark in words[0] for mark in "./"):
        # One path and nothing else: loading argparse takes longer than reading the document. No command is named so.
        return AppArguments(sources=(words[0],))
    from roamtui.argument_parser import parse_arguments
    from roamtui.cli_commands import COMMANDS

    command = COMMANDS.get(words[0]) if words else None
    if command is None:
        return parse_arguments(AppArguments, "roamtui", words)
    return parse_arguments(command, f"roamtui {words[0]}", words[1:])


def _print(text: str) -> int:
    """Write text and return the exit status."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        return 1
    except OSError as error:
        from roamtui.headless.output import OutputError, write_note

        write_note(f"roamtui: {OutputError(error)}")
        return 1
    finally:
        _detach_stdout()
    return 0


def _report_defect(error: Exception) -> int:
    """Tell of an error that nobody foresaw, in one line; with ROAMTUI_DEBUG set, whole."""
    import os
    import traceback

    if os.environ.get("ROAMTUI_DEBUG"):
        traceback.print_exception(error)
    else:
        kind = type(error).__name__
        sys.stderr.write(
            f"roamtui: a defect in roamtui stopped it ({kind}). Run it again with ROAMTUI_DEBUG=1 and report it.\n"
        )
    return 1


def _detach_stdout() -> None:
    """Keep the interpreter from complaining at exit that nobody takes its output any more."""
    try:
        sys.stdout.flush()
    except OSError:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
