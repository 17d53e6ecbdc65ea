"""Where roamtui's own files lie on a person's machine, as platformdirs has it for each system."""

from __future__ import annotations

from pathlib import Path

import platformdirs

_APP = "roamtui"
_SETTINGS = "config.toml"


def config_path() -> Path:
    """Return where the settings lie."""
    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / _SETTINGS


def data_path() -> Path:
    """Return the file of conversations."""
    return Path(platformdirs.user_data_dir(_APP, appauthor=False)) / "conversations.sqlite3"


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


def themes_path() -> Path:
    """Return the folder of a person's own themes."""
    return config_path().parent / "themes"


def sites_path() -> Path:
    """Return the file with a person's own list of sites, for the start screen."""
    return config_path().parent / "sites.toml"


def preferences_path() -> Path:
    """Return the file in which a person writes how they want to be answered."""
    return config_path().parent / "preferences.md"
