"""The server of `roamtui serve` with odd names."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from roamtui.cli import main
from roamtui.errors import RoamtuiError

pytest.importorskip("textual_serve", reason="the extra `serve` is not installed")
from roamtui.tui.web_server import HOST, make_web_server


def test_names_of_files_are_no_commands_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("program", "tui.web_server"):
        monkeypatch.setattr(f"roamtui.{module}.os", SimpleNamespace(name="nt"))
    monkeypatch.setattr("roamtui.tui.web_server.sys", SimpleNamespace(executable="C:\\python.exe"))
    server = make_web_server(["--", "a & calc.exe.md", "C:\\my docs\\"], port=8000, title="a")
    assert server.command == 'C:\\python.exe -m roamtui -- "a & calc.exe.md" "C:\\my docs\\\\"'
    for name in ("%PATH%.md", 'a" & calc.exe'):
        with pytest.raises(RoamtuiError, match="cannot be served"):
            make_web_server([name], port=8000, title="a")


def test_names_of_files_are_no_commands() -> None:
    arguments = ["--", "a b; touch $(x) 'y'.md"]
    server = make_web_server(arguments, port=8000, title="a\x1b[0m b")
    assert shlex.split(server.command)[-2:] == arguments
    assert (server.host, HOST) == ("127.0.0.1", "127.0.0.1")
    assert "\x1b" not in server.title


def test_a_folder_is_served_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    titles: list[str] = []
    monkeypatch.setattr("roamtui.tui.web_server.run_web_server", lambda *_, title, **__: titles.append(title))
    main(["serve", f"{tmp_path}/docs/"])
    assert titles == ["docs"]
