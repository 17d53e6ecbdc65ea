"""Where a model's name leads."""

from __future__ import annotations

import pytest

from roamtui.models.options import ModelOptions
from roamtui.models.worker.jobs import Target


@pytest.mark.parametrize(
    ("api_base", "is_local"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000", True),
        ("http://192.168.1.20:8000/v1", True),
        ("http://10.1.2.3", True),
        ("http://ollama:11434", True),
        ("http://host.docker.internal:11434", True),
        ("http://8.8.8.8/v1", False),
        ("https://api.example.com/v1", False),
        ("http://[broken", False),
        (None, False),
    ],
)
def test_a_server_nearby_is_waited_for_longer(api_base: str | None, *, is_local: bool) -> None:
    target = Target(model="m", provider="openai", api_base=api_base)
    assert target.is_local is is_local
    patient, hasty = ModelOptions(), ModelOptions(first_token_seconds=2.0)
    usual = patient.wait_for_first_token(is_local=False)
    assert (patient.wait_for_first_token(is_local=target.is_local) > usual) is is_local
    assert hasty.wait_for_first_token(is_local=target.is_local) == 2.0
