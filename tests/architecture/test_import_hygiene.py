"""What is loaded at run time: a static graph does not see a late import, `sys.modules` does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.real_documents import PROJECT_DIR

_HEAVY = ("textual", "rich", "litellm", "openai", "anthropic", "httpx", "aiohttp", "pydantic")
_NOT_NEEDED_FOR_HELP = (
    *_HEAVY,
    "asyncio",
    "dataclasses",
    "importlib.metadata",
    "msgspec",
    "platformdirs",
    "roamtui.settings",
    "sqlite3",
    "markdown_it",
)
_NOT_NEEDED_FOR_FIRST_SCREEN = (
    "litellm", "markdown_it", "pathspec", "rapidfuzz",
    "roamtui.tui.chat.exchange_view",
    "roamtui.tui.reader.reader",
    "roamtui.tui.screens.model_dialog", "roamtui.tui.screens.theme_picker",
    "roamtui.tui.screens.help", "roamtui.tui.screens.dialogs", "roamtui.tui.screens.lists",
    "tomlkit",
)  # fmt: skip
_NOT_NEEDED_FOR_OUTLINE = (
    *_HEAVY,
    "markdown_it",
    "rapidfuzz",
    "roamtui.agent.loop",
    "roamtui.search.hybrid",
    "tomlkit",
)
_PRINT_LOADED = "import sys; print(chr(10) + chr(32).join(sorted(sys.modules)))"


def _list_loaded(program: str) -> set[str]:
    """Return the names of all modules that a fresh interpreter has loaded once it has run `program`."""
    run = subprocess.run(
        [sys.executable, "-c", f"{program}\n{_PRINT_LOADED}"],
        cwd=PROJECT_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.rstrip("\n").rpartition("\n")[2].split(" "))


def _list_core_modules() -> list[str]:
    names = []
    for path in sorted((PROJECT_DIR / "roamtui").rglob("*.py")):
        parts = path.relative_to(PROJECT_DIR).with_suffix("").parts
        if parts[1] != "tui" and parts[-1] not in ("__main__", "launch", "mcp"):  # headless.mcp needs an extra
            names.append(".".join(part for part in parts if part != "__init__"))
    return names


def test_the_core_loads_neither_screen_nor_providers() -> None:
    modules = _list_core_modules()
    assert "roamtui.agent.loop" in modules
    loaded = _list_loaded("\n".join(f"import {module}" for module in modules))
    assert set(modules) <= loaded
    assert sorted(loaded.intersection(_HEAVY)) == []
    assert not {name for name in loaded if name.startswith("roamtui.tui")}


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_help_and_version_load_next_to_nothing(option: str) -> None:
    loaded = _list_loaded(f"from roamtui.cli import main; assert main([{option!r}]) == 0")
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_HELP)) == []
    assert {name for name in loaded if name.startswith("roamtui.")} == {"roamtui.cli", "roamtui.errors"}


def test_the_first_screen_loads_only_what_it_shows() -> None:
    loaded = _list_loaded(
        "import roamtui.cli, roamtui.tui.app, roamtui.tui.screens.main\n"
        "from roamtui.launch import Bootstrap, Launch\n"
        "Launch(bootstrap=Bootstrap()).open(('examples/handbook.md',))"
    )
    assert "roamtui.tui.screens.main" in loaded
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_FIRST_SCREEN)) == []


def test_the_outline_of_a_file_loads_neither_screen_nor_models_nor_search() -> None:
    loaded = _list_loaded("from roamtui.cli import main; assert main(['outline', 'examples/handbook.md']) == 0")
    assert "roamtui.outline.render" in loaded
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_OUTLINE)) == []
