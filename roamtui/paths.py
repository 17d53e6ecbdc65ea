"""Paths of roamtui's own and its bundled files, and how private folders and files are made and replaced."""

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import platformdirs

from roamtui.errors import RoamtuiError

_APP = "roamtui"
_SETTINGS_NAME = "config.toml"
_PACKAGE_DIR = Path(__file__).resolve().parent
_OWNER_ONLY_FOLDER = 0o700
_OWNER_ONLY_FILE = 0o600
_ANY_FILE = 0o666
"""The mode of an ordinary new file, before the system applies the umask."""
_STANDARD_INPUT = re.compile(r"-(?:[0-9a-f]{32}| \(standard input\))?")
_NAME_BYTES_MAX = 240
"""Maximum bytes of a name that a temporary file takes over: with its own part, they fit a file system."""
_BINARY_FLAG = getattr(os, "O_BINARY", 0)
"""Without this flag, Windows would change line ends."""


def get_config_path() -> Path:
    """Return the path of the settings file."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / _SETTINGS_NAME


def get_conversations_path() -> Path:
    """Return the folder of saved conversations."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False)) / "conversations"


def get_table_path(sources: Iterable[str]) -> Path:
    """Return the folder of the table of some sources. It does not depend on the questions."""
    return get_conversations_path().with_name("tables") / hash_source("\x1f".join(sources))


def get_cache_path(content: Literal["", "converted", "pages", "indexes"] = "") -> Path:
    """Return the folder for data that can be made again, or its subfolder for one kind of them."""
    return Path(platformdirs.user_cache_dir(_APP, appauthor=False)) / content


def hash_source(source: str) -> str:
    """Return a digest of a source, to name the files that belong to it."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def get_resource_dir(name: Literal["themes", "examples"]) -> Path:
    """Return the bundled folder with this name. Raise `RoamtuiError` if the installation is incomplete."""
    for folder in (_PACKAGE_DIR / "_data" / name, _PACKAGE_DIR.parent / name):
        if folder.is_dir():
            return folder
    raise RoamtuiError(f'The folder "{name}" is missing from this installation. Install roamtui again.')


def read_own_text(path: Path) -> str:
    """Read a file that the person wrote for roamtui. Raise `OSError` for a pipe, which may never end."""
    if path.exists() and not path.is_file():
        raise OSError("it is not a file")
    return path.read_text("utf-8-sig")


def is_standard_input(source: str) -> bool:
    """Return whether a source is standard input: ``-``, with a digest in a log or a name in an export."""
    return _STANDARD_INPUT.fullmatch(source) is not None


def expand_user(typed: str) -> str:
    """Return a path with its leading ``~`` expanded."""
    return os.path.expanduser(typed)  # noqa: PTH111 - the path of an unknown user is kept


def format_file_path(path: str) -> str:
    """Shorten a path for display: relative to the working directory, or with ``~`` for the home folder."""
    if is_standard_input(path):
        return "standard input"
    with suppress(OSError):  # the working directory may have been deleted
        folder = str(Path.cwd())
        if path == folder:
            return "."
        if path.startswith(folder + os.sep):
            return path.removeprefix(folder + os.sep)
    return abbreviate_home(path)


def abbreviate_home(path: str) -> str:
    """Write ``~`` for the home folder at the start of a path, because the folder names the person."""
    home = str(Path.home())
    return "~" + path.removeprefix(home) if path == home or path.startswith(home + os.sep) else path


def make_private_folder(folder: Path) -> None:
    """Create a missing folder and its missing parents, each accessible only to its owner.

    `Path.mkdir` applies its mode only to the last folder: with a loose umask, anybody could write into its
    parents.
    """
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        with suppress(FileExistsError):
            missing.mkdir(mode=_OWNER_ONLY_FOLDER)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def open_private_file(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file in binary mode with flags of `os.open`. A new file is accessible only to its owner."""
    return os.open(path, flags | _BINARY_FLAG, _OWNER_ONLY_FILE)


def write_all(file: int, data: bytes) -> None:
    """Write all bytes to an open file. A single `os.write` may write fewer."""
    while data:
        data = data[os.write(file, data) :]


def replace_file(path: Path, data: bytes, *, is_private: bool = True, is_flushed: bool = True) -> None:
    """Write a file in an existing folder, so that a reader sees either the old version or the new one.

    If that fails, the old version is untouched. The file keeps its mode and symbolic links to it. A new file
    is accessible only to its owner if it `is_private`. A path that is not a file, such as a pipe, is written
    directly. Without `is_flushed`, a power cut may lose both versions: use this only for data that can be
    made again.
    """
    mode = None
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
    if mode is not None and not stat.S_ISREG(mode):
        path.write_bytes(data)
        return
    if mode is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    target = path.resolve()
    name = os.fsencode(target.name)[:_NAME_BYTES_MAX].decode("utf-8", "ignore")
    temporary = target.with_name(f".{name}-{os.urandom(4).hex()}")
    new_mode = _OWNER_ONLY_FILE if is_private else _ANY_FILE
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY_FLAG, new_mode)
    try:
        try:
            write_all(file, data)
            if is_flushed:
                os.fsync(file)
        finally:
            os.close(file)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
