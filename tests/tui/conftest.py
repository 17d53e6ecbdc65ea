"""Pictures of the screen are taken once the app has started and its screen no longer changes."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from textual.css import stylesheet
from textual.css.parse import parse
from textual.css.tokenize import tokenize_values
from textual.pilot import Pilot
from textual.widgets import Input

from roamtui.tui.app import RoamApp
from roamtui.tui.reader import document_reader
from tests.tui.driving import Compare, RunningApp, Scene, wait_until_started


@pytest.fixture(scope="session", autouse=True)
def styles_read_once() -> Iterator[None]:
    """Parse each style sheet once for all apps: it takes each of them a sixth of its start."""
    real_parse = cast("Callable[..., Any]", parse)
    rules: dict[tuple[object, ...], list[Any]] = {}
    tokens: dict[frozenset[tuple[str, str]], dict[str, Any]] = {}

    def parse_once(*place: object, variable_tokens: dict[str, Any], **more: object) -> list[Any]:
        key = (*place, id(variable_tokens), *more.items())  # `tokens` holds them, so no others get their id
        if key not in rules:
            rules[key] = list(real_parse(*place, variable_tokens=variable_tokens, **more))
        return rules[key]

    def tokenize_once(variables: dict[str, str]) -> dict[str, Any]:
        key = frozenset(variables.items())
        if key not in tokens:
            tokens[key] = tokenize_values(variables)
        return tokens[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stylesheet, "parse", parse_once)
        patch.setattr(stylesheet, "tokenize_values", tokenize_once)
        yield


@pytest.fixture
def snap_compare(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Wait for the app before and after `run_before`, then compare its picture with the one that was kept."""
    monkeypatch.setattr(document_reader, "_READING_SECONDS", 3600.0)  # else the outline marks what a slow test shows
    monkeypatch.setattr(Input, "_toggle_cursor", lambda _field: None)  # else a slow test shows a cursor that blinks

    def compare(app: RoamApp, *, terminal_size: tuple[int, int] = (80, 24), run_before: Scene | None = None) -> bool:
        async def show(pilot: Pilot[Any]) -> None:
            await wait_until_started(pilot)
            ui = RunningApp(app, pilot)
            if run_before is not None:
                await run_before(ui)
            await ui.rest()

        return snap_compare(app, terminal_size=terminal_size, run_before=show)

    return compare
