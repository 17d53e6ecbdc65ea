"""roamtui beside other readers of Markdown in a terminal of 160 × 48: `python -m tests.benchmarks.readers`.

Those on the path take part (`pipx install frogmouth hike`). The files are the beginning of a large documentation.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from shutil import which

from tests.benchmarks.measuring import make_environ
from tests.benchmarks.terminal_program import TerminalProgram
from tests.real_documents import find_data_dir

_SECONDS_MAX = 60.0
_FIRST_WORD = "Anatomy"
_SIZES = {"100 KB": 100_000, "1 MB": 1_000_000}
_VIEWER = """\
import sys
from pathlib import Path
from shutil import which
from textual.app import App
from textual.widgets import MarkdownViewer
class Viewer(MarkdownViewer, can_focus=True): pass
class ViewerApp(App):
    AUTO_FOCUS = "Viewer"
    def compose(self): yield Viewer(Path(sys.argv[1]).read_text("utf-8"), show_table_of_contents=True)
ViewerApp().run()
"""


def find_readers() -> dict[str, list[str]]:
    """Return the command of each reader that is installed."""
    own = {
        "roamtui": [str(Path(sys.executable).with_name("roamtui"))],
        "Textual's MarkdownViewer": [sys.executable, "-c", _VIEWER],
    }
    return own | {name: [path] for name in ("frogmouth", "hike") if (path := which(name))}


def measure_reader(command: list[str]) -> str:
    """Start a reader; return when its first words came, and its memory then."""
    with tempfile.TemporaryDirectory() as home:
        environ = make_environ(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home)
        with closing(TerminalProgram(command, environ)) as program:
            first = program.wait_for(_FIRST_WORD, program.start + _SECONDS_MAX)
            shown = f"not in {_SECONDS_MAX:.0f} s" if first is None else f"{first:.2f} s"
            return f"{shown} | {program.memory_bytes() / 1e6:,.0f} MB"


def main() -> None:
    """Print a table with a row for each reader and size."""
    sys.stdout.write("| size | reader | first words | memory |\n|---|---|---:|---:|\n")
    with gzip.open(find_data_dir() / "perf" / "mdn-concat-50mb.md.gz") as file:
        data = file.read(max(_SIZES.values()))
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "pages.md"
        for size, length in _SIZES.items():
            document.write_bytes(data[:length])
            for name, command in find_readers().items():
                sys.stdout.write(f"| {size} | {name} | {measure_reader([*command, str(document)])} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
