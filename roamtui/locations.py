"""Where files lie: roamtui's own on a person's machine, as platformdirs has it, and those shipped with the code."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import platformdirs

from roamtui.errors import RoamtuiError

_APP = "roamtui"
_SETTINGS = "config.toml"
_PACKAGE_DIR = Path(__file__).resolve().parent


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


def name_index(source: str) -> str:
    """Return a name that only the indexes of this source have, without an ending."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


def summaries_path(source: str) -> Path:
    """Return the file of what a model wrote of a source, beside its index."""
    return indexes_path() / f"{name_index(source)}.summaries.sqlite3"


def themes_path() -> Path:
    """Return the folder of a person's own themes."""
    return config_path().parent / "themes"


def sites_path() -> Path:
    """Return the file with a person's own list of sites, for the start screen."""
    return config_path().parent / "sites.toml"


def preferences_path() -> Path:
    """Return the file in which a person writes how they want to be answered."""
    return config_path().parent / "preferences.md"


def find_resource_dir(name: Literal["themes", "examples"]) -> Path:
    """Return the folder with the bundled files of this name.

    Raises:
        RoamtuiError: The installation is not whole.
    """
    for folder in (_PACKAGE_DIR / "_data" / name, _PACKAGE_DIR.parent / name):
        if folder.is_dir():
            return folder
    raise RoamtuiError(f'The folder "{name}" is missing from this installation of roamtui. Install it again.')


def shorten_path(path: str) -> str:
    """Return a path as a person would type it here: below the folder they are in, or with their home as ``~``."""
    for folder, short in ((str(Path.cwd()), "."), (str(Path.home()), "~")):
        if path == folder:
            return short
        if path.startswith(folder + os.sep):
            return path.removeprefix(folder + os.sep) if short == "." else short + path.removeprefix(folder)
    return path
