"""Files lie where they should: shipped ones are found, a person's own are their owner's alone."""

import os
import re
import stat
from pathlib import Path

import pytest

from roamtui import paths
from tests.real_documents import PROJECT_DIR


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_every_folder_on_the_way_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        paths.make_private_folder(tmp_path / "share" / "roamtui" / "pages")
        paths.make_private_folder(tmp_path / "share" / "roamtui" / "pages")
    finally:
        os.umask(before)
    made = list(tmp_path.rglob("*"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700] * 3


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match="Not a directory"):
            paths.make_private_folder(place)


def test_no_module_makes_folders_in_another_way() -> None:
    sources = [path for path in (PROJECT_DIR / "roamtui").rglob("*.py") if path.name != "paths.py"]
    assert [path.name for path in sources if re.search(r"\bmkdir\(|makedirs\(", path.read_text("utf-8"))] == []
