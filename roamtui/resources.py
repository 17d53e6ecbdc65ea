"""Finds the folders that are shipped beside the code, in a wheel and in an editable install alike."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from roamtui.errors import RoamtuiError

_PACKAGE_DIR = Path(__file__).resolve().parent


def find_resource_dir(name: Literal["themes", "examples"]) -> Path:
    """Return the folder with the bundled files of this name.

    Raises:
        RoamtuiError: The installation is not whole.
    """
    for folder in (_PACKAGE_DIR / "_data" / name, _PACKAGE_DIR.parent / name):
        if folder.is_dir():
            return folder
    raise RoamtuiError(f'The folder "{name}" is missing from this installation of roamtui. Install it again.')
