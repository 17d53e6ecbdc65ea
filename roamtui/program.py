"""How a shell finds this program, and the programs that were installed with it."""

import os
import re
import sys
from functools import cache

QUIT_WORDS = (":q", ":q!", "exit", "quit")
"""Words that a person types to quit, as in an editor or a shell."""
_NAME = "roamtui"
_COMMAND = re.compile(rf"(?<=`){_NAME}(?= )|(?<![\w/\\])pip(?= install )")

_PLAIN_WORD = re.compile(r"[\w.:/\\-]+")


@cache
def _find_folder() -> str:
    """Return the folder of the program as it was started, or "" if a shell finds it by its name."""
    import shutil  # noqa: PLC0415 - few runs print a command

    started = sys.argv[0]
    if os.path.basename(started) == "__main__.py":  # noqa: PTH119 - pathlib would delay `--help`
        started = os.path.join(os.path.dirname(sys.executable), _NAME)  # noqa: PTH118, PTH120
    folder, name = os.path.split(started)
    found = shutil.which(_NAME)
    is_found = found is not None and os.path.realpath(found) == os.path.realpath(started)
    return "" if is_found or os.path.splitext(name)[0] != _NAME else os.path.join(folder, "")  # noqa: PTH118, PTH122


def format_program(name: str = _NAME) -> str:
    """Return the word, a name or a quoted path, by which a shell starts a program installed with this one."""
    folder = _find_folder()
    return quote_word(folder + name) if folder else name


def quote_word(word: str) -> str:
    """Quote a word of a command for the system's shell, if the shell would not read it as one plain word.

    On Windows, cmd.exe interprets " and % even inside quotation marks.
    """
    if os.name != "nt":
        import shlex  # noqa: PLC0415 - few runs print a command

        return shlex.quote(word)
    last = word[len(word.rstrip("\\")) :]  # backslashes would escape the closing quotation mark
    return word if _PLAIN_WORD.fullmatch(word) else f'"{word}{last}"'


def qualify_commands(text: str) -> str:
    """Replace the names in the commands of a text, `roamtui …` in backticks and `pip install`, for a shell.

    The names become those of `format_program`. A second call changes nothing.
    """
    return _COMMAND.sub(lambda match: format_program(match[0]), text) if _find_folder() else text
