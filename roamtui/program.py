"""How a shell finds this program, and the programs that were installed with it."""

import os
import re
import sys
from functools import cache

QUIT_WORDS = (":q", ":q!", "exit", "quit")
"""Words that a person types to quit, as in an editor or a shell."""
_NAME = "roamtui"
_COMMAND = re.compile(rf"(?<=`){_NAME}(?= )|(?<![\w/\\])pip(?= install )")


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
    if not folder:
        return name
    import shlex  # noqa: PLC0415 - few runs print a command

    return shlex.quote(folder + name)


def qualify_commands(text: str) -> str:
    """Replace the names in the commands of a text, `roamtui …` in backticks and `pip install`, for a shell.

    The names become those of `format_program`. A second call changes nothing.
    """
    return _COMMAND.sub(lambda match: format_program(match[0]), text) if _find_folder() else text
