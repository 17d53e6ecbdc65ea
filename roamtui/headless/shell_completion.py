"""The script that completes the command line in bash or zsh."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path

import shtab


def render_completion(root: ArgumentParser, parsers: Iterable[ArgumentParser], shell: str) -> str:
    """Render the script that completes commands, flags, their values and files in a shell.

    `root` is the parser of the app, and becomes that of the whole program; `parsers` are those of its commands.
    """
    root._remove_action(next(action for action in root._actions if action.dest == "sources"))  # noqa: SLF001 - with SOURCE, no command would be offered
    commands = root.add_subparsers(metavar="COMMAND")
    for parser in parsers:
        for action in parser._actions:  # noqa: SLF001 - argparse has no other list of them
            if action.dest in ("source", "sources", "targets") or action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        name = parser.prog.rpartition(" ")[2]
        commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    # Without a match, bash completes files; zsh offers them beside the commands.
    script = str(shtab.complete(root, shell)).replace("complete -o bashdefault", "complete -o bashdefault -o default")
    return script.replace("'roamtui commands' _commands", "'roamtui commands' _commands; _files")
