"""The command line: parses it, runs the command or the app, and turns errors into messages.

This module imports almost nothing, so that `roamtui --help` is fast: each command's code is imported when it runs.
"""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False  # `typing` takes as long to load as all of this
if TYPE_CHECKING:
    from collections.abc import Iterable

    from roamtui.cli_commands import Command
    from roamtui.option_fields import AppArguments

HELP = """\
usage: roamtui [SOURCE] [--model M] [--continue]
       roamtui COMMAND ...

Ask questions of a well-organised document. A model reads its outline, opens the
sections it needs, and proves its answer with quotes. Without a command, the app opens.

SOURCE is a file (Markdown, text, PDF, HTML, EPUB, PPTX, XLSX, OpenDocument, Jupyter,
subtitles, reStructuredText, or DOCX with an extra), a folder or zip archive of files, the
https:// address of a site, its llms.txt or a page, or - for standard input. The app,
`index`, `outline` and `mcp` open several files and folders as one. Without SOURCE, the app shows a start screen.

commands:
  outline SOURCE [--json] [--budget N]    the outline as the model reads it
  show SOURCE ID|TITLE...                 raw text of sections, pages and ranges
  ask SOURCE QUESTION [--json|--events]   one question, one cited answer
  search SOURCE QUERY [--mode M]          ranked sections
  index SOURCE... [--to URI]              build the search index on disk
  table SOURCE... -q QUESTION...          many questions about many documents, as a table
  eval QUESTIONS --docs DIR [--model M]   measure search and answers on your own questions
  conversations [list|show|export|delete] saved conversations
  notes [SOURCE] [--delete]               print your notes as Markdown
  recheck [ID|FILE.md|--all] [--json]     check that quoted text is still there
  serve SOURCE [--port N]                 run the app in a browser, local only
  mcp SOURCE... [--http]                  expose the model's tools over MCP
  doctor [--model M]                      check the installation and the models

options:
  --model M        offline (default), or any litellm name such as openai/gpt-4.1-mini
  --api-base URL   address of the model's server
  --continue       resume the latest conversation about SOURCE
  --plain          plain text, for screen readers and simple terminals
  --no-network     use cached pages only
  --allow-origin U another site to fetch pages from
  --max-cost USD   ask before a conversation costs more than this
  --trace FILE     log every event; replay with --model recorded:FILE
  -h, --help       this text; after a command, all its options
  --version        the version

To open a file named like a command, write ./ask.
"""
_SIMILARITY_MIN = 0.75
"""Minimum similarity, from 0 to 1, of a mistyped command: one wrong, missing or swapped letter in a short name."""


def main(argv: list[str] | None = None) -> int:  # noqa: PLR0911 - one for each outcome
    """Run the program and return its exit status: 0 success, 1 failure, 2 wrong use, 130 cancelled."""
    arguments = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from roamtui.headless.output import open_closed_streams

        open_closed_streams()
    if arguments and arguments[0] in ("-h", "--help"):
        return _print(HELP)
    if arguments == ["--version"]:
        from roamtui import __version__

        return _print(f"roamtui {__version__}\n")
    from roamtui.errors import EXIT_CANCELLED, RoamtuiError

    gc.disable()  # imports create no garbage, so collecting would waste startup time
    try:
        command = parse_command_line(arguments)
        from roamtui.option_fields import AppArguments

        if isinstance(command, AppArguments):
            from roamtui.launch import run_app

            return run_app(command)
        gc.enable()
        return command.run()
    except RoamtuiError as error:
        from roamtui.headless.output import write_notice

        write_notice(f"roamtui: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return EXIT_CANCELLED
    except BrokenPipeError:
        return 1
    except Exception as error:  # noqa: BLE001 - the last stop before a person would see a traceback
        import os
        import traceback

        if os.environ.get("ROAMTUI_DEBUG"):
            traceback.print_exception(error)
        else:
            kind = type(error).__name__
            sys.stderr.write(f"roamtui: internal error ({kind}). Rerun with ROAMTUI_DEBUG=1 and report it.\n")
        return 1
    finally:
        gc.enable()
        _detach_stdout()


def parse_command_line(words: list[str]) -> AppArguments | Command:
    """Parse a command line into a command, or into the app's arguments if it names no command."""
    from roamtui.option_fields import AppArguments

    if len(words) == 1 and not words[0].startswith("-") and any(mark in words[0] for mark in "./"):
        # For a single path, loading argparse takes longer than reading the document. No command name contains . or /.
        return AppArguments(sources=(words[0],))
    from roamtui.argument_parser import parse_arguments
    from roamtui.cli_commands import COMMANDS

    command = COMMANDS.get(words[0]) if words else None
    if command is None:
        if words:
            _check_command_name(words[0], COMMANDS)
        return parse_arguments(AppArguments, "roamtui", words)
    return parse_arguments(command, f"roamtui {words[0]}", words[1:])


def _check_command_name(word: str, names: Iterable[str]) -> None:
    """Reject a word that is nearly the name of a command, unless a file has that name."""
    import os

    if not word.isalpha() or os.path.lexists(word):
        return
    from difflib import get_close_matches

    from roamtui.errors import UsageError

    if similar := get_close_matches(word.lower(), names, n=1, cutoff=_SIMILARITY_MIN):
        raise UsageError(f'there is no command or file "{word}". Did you mean `roamtui {similar[0]}`?')


def _print(text: str) -> int:
    """Write text without importing `headless.output`, which takes several times as long as all of this."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        return 1
    except OSError as error:
        from roamtui.headless.output import OutputError, write_notice

        write_notice(f"roamtui: {OutputError(error)}")
        return 1
    finally:
        _detach_stdout()
    return 0


def _detach_stdout() -> None:
    # Prevents an error message from the interpreter at exit if stdout is closed.
    try:
        sys.stdout.flush()
    except OSError:
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
