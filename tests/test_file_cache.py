"""Values in the files of a folder: stored, damaged and evicted."""

import os
import stat
from pathlib import Path

from roamtui.file_cache import FileCache


def test_a_saved_value_is_loaded_unchanged_and_takes_the_place_of_a_damaged_one(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "deep" / "values", str, 10_000)
    assert cache.load("a") is None
    cache.save("a", "# A\n")
    assert cache.load("a") == "# A\n"
    assert cache.load("b") is None
    (file,) = cache.folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.write_bytes(file.read_bytes()[:-3])
    assert cache.load("a") is None
    cache.save("a", "again")
    assert cache.load("a") == "again"


def test_the_least_recently_used_values_are_evicted_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, str, 9_000)
    for number in range(5):
        cache.save(str(number), "x" * 1700)
        os.utime(tmp_path / str(number), (number, number))
    assert cache.load("0") is not None
    cache.save("5", "x" * 1700)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0", "2", "3", "4", "5"]
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 9_000


def test_a_file_that_cannot_be_deleted_keeps_no_other_in_a_cache(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "locked", "old")):
        path = tmp_path / name
        if name == "locked":  # as a folder is, a file that another program uses cannot be deleted
            path.mkdir()
        else:
            path.write_bytes(b"x" * 100)
        os.utime(path, (1_000 - age, 1_000 - age))
    FileCache(tmp_path, str, 160).save("newest", "")
    assert {path.name for path in tmp_path.iterdir()} == {"newest", "new", "locked"}
