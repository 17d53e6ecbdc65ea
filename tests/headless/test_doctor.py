"""`doctor` looks at files and models, and changes nothing."""

from __future__ import annotations

import pytest

from roamtui.headless.doctor import run_doctor
from roamtui.models.options import ModelOptions
from tests.fakes.site import make_ollama


def test_all_fits_one_screen_and_obeys_no_foreign_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with make_ollama(*(f"\x1b[2Jmodel-{number}" for number in range(9))) as server:
        monkeypatch.setenv("OLLAMA_API_BASE", server.origin)
        assert run_doctor("a/\x1b[1mb", None, ModelOptions()) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\n") <= 24
    assert "model-4" in out
