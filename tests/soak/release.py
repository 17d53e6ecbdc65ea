"""Build what is published, and use it as a stranger would: `make release`.

It needs a package index for the dependencies. The files are left in `dist/`.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import roamtui
from tests.real_documents import PROJECT_DIR
from tests.terminal.pseudo_terminal import PseudoTerminal

_DIST = PROJECT_DIR / "dist"
_BYTES_MAX = 1_500_000
_SIZE_ERROR_MAX = 0.1
"""How far the size of an installation may be from the size that the README promises."""
_QUESTION = "What do I pay for a lost item?"
_ANSWER = "For a lost item you pay its replacement value"


def _run(*command: str | Path, cwd: Path = PROJECT_DIR) -> str:
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True, check=True).stdout


def _install(folder: Path, *packages: str | Path) -> Path:
    """Install packages into a new environment, and return the folder of its programs."""
    _run(sys.executable, "-m", "venv", folder)
    pip = (folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    _run(*pip, "--constraint", PROJECT_DIR / "constraints.txt", *packages)
    return folder / "bin"


def _check_use(programs: Path, folder: Path) -> None:
    """Open the example that the wheel brings, and ask it, away from the checkout."""
    program = programs / "roamtui"
    assert _run(program, "--version", cwd=folder) == f"roamtui {roamtui.__version__}\n"
    (example,) = programs.parent.glob("lib/python*/site-packages/roamtui/_data/examples/handbook.md")
    assert _ANSWER in _run(program, "ask", example, _QUESTION, "--model", "offline", cwd=folder)
    opened = PseudoTerminal(["demo"], folder, environ={"TERM": "xterm-256color"}, program=[program])
    with closing(opened) as terminal:
        terminal.wait_for(b"Tallow Street")


def main() -> None:
    """Build the wheel and the source package, check both, and install and use the wheel.

    Raises:
        AssertionError: A file is too large, or the installed program does not do what it should.
        CalledProcessError: A step failed; what it printed says why.
    """
    shutil.rmtree(_DIST, ignore_errors=True)
    _run(sys.executable, "-m", "hatchling", "build", "-d", _DIST)
    built = sorted(_DIST.iterdir())
    assert [path.suffix for path in built] == [".whl", ".gz"]
    assert max(path.stat().st_size for path in built) <= _BYTES_MAX
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run(_install(folder / "twine", "twine>=7,<8") / "twine", "check", "--strict", *built)
        _check_use(_install(folder / "new", f"{built[0]}[formats,meaning]"), folder)
        sizes = {folder / "new": sum(path.lstat().st_blocks * 512 for path in folder.glob("new/lib/**/*"))}
    (promised,) = re.findall(r"needs (\d+) MB", (PROJECT_DIR / "README.md").read_text("utf-8"))
    assert abs(sizes[folder / "new"] / 1e6 / int(promised) - 1) < _SIZE_ERROR_MAX
    sizes |= {path: path.stat().st_size for path in built}
    print(*(f"{size:>11,} bytes  {path.name}" for path, size in sizes.items()), sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
