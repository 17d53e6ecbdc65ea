"""Files lie where they should: shipped ones are found, a person's own are their owner's alone."""

import os
import stat
import sys
from pathlib import Path

import pytest

from roamtui import paths
from roamtui.document.document import hash_text


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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_replaced_file_keeps_its_mode_and_the_link_to_it(tmp_path: Path) -> None:
    file, link, dangling = (tmp_path / name for name in ("file.md", "link.md", "dangling.md"))
    file.write_text("old")
    file.chmod(0o664)
    link.symlink_to("file.md")
    dangling.symlink_to("missing.md")
    paths.replace_file(link, b"new")
    paths.replace_file(dangling, b"made")
    assert stat.S_IMODE(file.stat().st_mode) == 0o664
    assert link.is_symlink()
    assert dangling.is_symlink()
    names = ("file.md", "link.md", "dangling.md", "missing.md")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert files == dict(zip(names, (b"new", b"new", b"made", b"made"), strict=True))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_new_file_is_its_owners_alone_or_as_the_person_has_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        paths.replace_file(tmp_path / "own", b"")
        paths.replace_file(tmp_path / "export", b"", is_private=False)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("own", "export")]
    assert modes == [0o600, 0o640]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    paths.replace_file(pipe, b"text")
    assert os.read(reading, 10) == b"text"
    os.close(reading)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError):
        paths.replace_file(tmp_path, b"text")


@pytest.mark.parametrize(
    ("path", "shown"),
    [("here", "."), ("here/a.md", "a.md"), (".", "~"), ("b.md", "~/b.md"), ("-", "standard input"), ("/c.md", "/c.md")],
)
def test_a_path_is_shown_from_the_working_or_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, shown: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert paths.format_file_path(path if path == "-" else str(tmp_path / path)) == shown.replace("/", os.sep)


def test_only_a_dash_and_what_stands_for_it_elsewhere_is_standard_input() -> None:
    assert all(map(paths.is_standard_input, ("-", f"-{hash_text('')}", "- (standard input)")))
    assert not any(map(paths.is_standard_input, ("-e", "-cafe", "-notes.md")))
