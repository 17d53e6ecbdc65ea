"""What is shipped beside the code is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui import locations
from roamtui.errors import RoamtuiError


def test_themes_and_examples_are_found_here() -> None:
    assert (locations.find_resource_dir("themes") / "dusk.toml").is_file()
    assert (locations.find_resource_dir("examples") / "handbook.md").is_file()


def test_the_folder_inside_a_wheel_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "roamtui"
    (package / "_data" / "themes").mkdir(parents=True)
    (tmp_path / "themes").mkdir()
    monkeypatch.setattr(locations, "_PACKAGE_DIR", package)
    assert locations.find_resource_dir("themes") == package / "_data" / "themes"


def test_a_broken_installation_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locations, "_PACKAGE_DIR", tmp_path / "roamtui")
    with pytest.raises(RoamtuiError, match="themes"):
        locations.find_resource_dir("themes")
