"""Where roamtui's files lie, as platformdirs has it: its own, which their owner alone can use, or shipped with it."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import platformdirs

from roamtui.errors import RoamtuiError

_APP = "roamtui"
_SETTINGS = "config.toml"
_PACKAGE_DIR = Path(__file__).resolve().parent
_OWNER_ALONE = 0o700
_OWNER_ALONE_FILE = 0o600
_AS_IT_IS = getattr(os, "O_BINARY", 0)
"""Windows would otherwise write a line end of its own in place of each."""


def config_path() -> Path:
    """Return where the settings lie."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / _SETTINGS


def data_path() -> Path:
    """Return the folder of conversations."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False)) / "conversations"


def places_path() -> Path:
    """Return the file of where the person was reading in each document."""
    return data_path().with_name("places.json")


def cache_path() -> Path:
    """Return the folder for what can be made again."""
    return Path(platformdirs.user_cache_dir(_APP, appauthor=False))


def conversions_path() -> Path:
    """Return the folder of texts that took long to convert."""
    return cache_path() / "converted"


def pages_path() -> Path:
    """Return the folder of pages of the web that are kept."""
    return cache_path() / "pages"


def indexes_path() -> Path:
    """Return the folder of search indexes."""
    return cache_path() / "indexes"


def make_index_stem(source: str) -> str:
    """Return a name that only the indexes of this source have, without an ending."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def summaries_path(source: str) -> Path:
    """Return the file of what a model wrote of a source, beside its index."""
    return indexes_path() / f"{make_index_stem(source)}.summaries.sqlite3"


def themes_path() -> Path:
    """Return the folder of a person's own themes."""
    return config_path().parent / "themes"


def sites_path() -> Path:
    """Return the file with a person's own list of sites, for the start screen."""
    return config_path().parent / "sites.toml"


def preferences_path() -> Path:
    """Return the file in which a person writes how they want to be answered."""
    return config_path().parent / "preferences.md"


def get_resource_dir(name: Literal["themes", "examples"]) -> Path:
    """Return the folder with the bundled files of this name.

    Raises:
        RoamtuiError: The installation is not whole.
    """
    for folder in (_PACKAGE_DIR / "_data" / name, _PACKAGE_DIR.parent / name):
        if folder.is_dir():
            return folder
    raise RoamtuiError(f'The folder "{name}" is missing from this installation of roamtui. Install it again.')


def display_path(path: str) -> str:
    """Return a path as a person would type it here: below the folder they are in, or with their home as ``~``."""
    for folder, short in ((str(Path.cwd()), "."), (str(Path.home()), "~")):
        if path == folder:
            return short
        if path.startswith(folder + os.sep):
            return path.removeprefix(folder + os.sep) if short == "." else short + path.removeprefix(folder)
    return path


def make_private_folder(folder: Path) -> None:
    """Make a folder where it is missing, and those above it, each for its owner alone.

    `Path.mkdir` gives its mode to the last one only: with a loose umask anybody could write into the others.

    Raises:
        OSError: One of them cannot be made, or is no folder.
    """
    for missing in reversed([above for above in (folder, *folder.parents) if not above.exists()]):
        with suppress(FileExistsError):
            missing.mkdir(mode=_OWNER_ALONE)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def open_private_file(path: Path, flags: int = os.O_RDWR) -> int:
    """Open a file for its bytes, with flags of `os.open`; create a missing one for its owner only.

    Raises:
        OSError: It cannot be opened.
    """
    return os.open(path, os.O_CREAT | _AS_IT_IS | flags, _OWNER_ALONE_FILE)


def write_all(file: int, data: bytes) -> None:
    """Write all bytes to an open file; the system may take only some of them at a time.

    Raises:
        OSError: They cannot be written, or not all of them.
    """
    while data:
        data = data[os.write(file, data) :]


def write_private_file(
    path: Path, data: bytes, *, is_flushed: bool = False, suffix: str = "", modified_ns: int | None = None
) -> None:
    """Write a file beside its place and have it take that place whole, so that a reader sees the old one or the new.

    Args:
        path: In a folder that is there.
        data: All of it.
        is_flushed: Whether it is on the disk before it takes its place; not worth the wait for what can be made again.
        suffix: End of the name while it is being written.
        modified_ns: Time of its last change, by default now.

    Raises:
        OSError: It cannot be written; nothing is left beside.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}")
    file = open_private_file(beside, os.O_WRONLY | os.O_EXCL)
    try:
        try:
            write_all(file, data)
            if is_flushed:
                os.fsync(file)
        finally:
            os.close(file)
        if modified_ns is not None:
            os.utime(beside, ns=(modified_ns, modified_ns))
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
