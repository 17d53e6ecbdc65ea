"""The layers as pyproject.toml states them, no circles, and what is loaded at run time."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.real_documents import PROJECT_DIR


def test_every_layer_imports_only_those_above_it() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    result = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


_LAZY_EXPORTS = ("roamtui", "roamtui.api")
"""The package imports its public names when a program asks for one, and those modules import the package."""


@cache
def _read_trees() -> Mapping[str, ast.Module]:
    trees = {}
    for path in sorted((PROJECT_DIR / "roamtui").rglob("*.py")):
        parts = path.relative_to(PROJECT_DIR).with_suffix("").parts
        trees[".".join(part for part in parts if part != "__init__")] = ast.parse(path.read_text("utf-8"))
    return trees


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    yield
    _read_trees.cache_clear()


def _list_imports(tree: ast.Module, modules: Mapping[str, object]) -> Iterator[str]:
    """Yield what a module imports from the package, anywhere in it; `from a import b` is `a.b` if that is a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else str(node.module)


def test_no_module_imports_itself_by_way_of_others() -> None:
    trees = _read_trees()
    imports = {module: set(_list_imports(tree, trees)) for module, tree in trees.items()}
    package, exports = _LAZY_EXPORTS
    imports[package].remove(exports)
    TopologicalSorter(imports).prepare()  # it raises an error that names a circle


def test_only_the_app_knows_the_main_screen() -> None:
    trees = _read_trees()
    importers = {module for module, tree in trees.items() if "roamtui.tui.screens.main" in _list_imports(tree, trees)}
    assert importers == {"roamtui.tui.app"}


_DOOR = {"conversion", "converted", "decode", "formats"}
"""What others may import of `roamtui.convert`. The rest of it is formats and what they share."""


def test_convert_has_one_door() -> None:
    trees = _read_trees()
    found = {
        (module, imported.removeprefix("roamtui.convert."))
        for module, tree in trees.items()
        for imported in _list_imports(tree, trees)
        if imported.startswith("roamtui.convert.") and not module.startswith("roamtui.convert")
    }
    assert {(module, imported) for module, imported in found if imported not in _DOOR} == set()


_HEAVY = ("textual", "rich", "litellm", "openai", "anthropic", "httpx", "aiohttp", "pydantic")
_NOT_NEEDED_FOR_HELP = (
    *_HEAVY,
    "asyncio",
    *(() if sys.version_info >= (3, 14) else ("dataclasses",)),  # argparse loads it to colour help
    "importlib.metadata",
    "msgspec",
    "pathlib",
    "platformdirs",
    "roamtui.settings",
    "sqlite3",
    "markdown_it",
)
_NOT_NEEDED_FOR_FIRST_SCREEN = (
    "csv", "html", "litellm", "markdown_it", "pathspec", "rapidfuzz", "tomlkit",
    "roamtui.agent.answer_loop", "roamtui.answer_report", "roamtui.markdown.lines",
    "roamtui.quotes.find", "roamtui.retrieval.excerpt", "roamtui.table.store",
    "roamtui.tui.chat.exchange_view",
    "roamtui.tui.reader.reader",
    "roamtui.tui.screens.pickers",
    "roamtui.tui.screens.help", "roamtui.tui.screens.dialogs", "roamtui.tui.screens.lists",
)  # fmt: skip
_NOT_NEEDED_FOR_OUTLINE = (
    *_HEAVY,
    "asyncio",
    "markdown_it",
    "rapidfuzz",
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


def test_the_core_loads_neither_screen_nor_providers() -> None:
    left_out = re.compile(r"roamtui\.tui\b|.*\.(?:__main__|launch)$")
    modules = [name for name in _read_trees() if not left_out.match(name)]
    assert "roamtui.agent.agent" in modules
    loaded = _list_loaded("\n".join(f"import {module}" for module in modules))
    assert set(modules) <= loaded
    assert sorted(loaded.intersection(_HEAVY)) == []
    assert not {name for name in loaded if name.startswith("roamtui.tui")}


@pytest.mark.parametrize("option", ["--help", "-h", "--version"])
def test_help_and_version_load_next_to_nothing(option: str) -> None:
    loaded = _list_loaded(f"from roamtui.cli import main; assert main([{option!r}]) == 0")
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_HELP)) == []
    own = {name for name in loaded if name.startswith("roamtui.") and not name.startswith("roamtui.commands")}
    assert own == {"roamtui.cli", "roamtui.convert", "roamtui.convert.formats", "roamtui.errors", "roamtui.program"}


def test_the_tools_of_a_server_are_listed_before_it_loads_the_program() -> None:
    loaded = _list_loaded(
        "from roamtui.cli import main; from roamtui.headless import mcp_server\n"
        "mcp_server.run_mcp_server = lambda specs, _make_session: print(*(spec.name for spec in specs))\n"
        "assert main(['mcp', 'examples/handbook.md']) == 0"
    )
    own = {name for name in loaded if name.startswith(("roamtui.agent.", "roamtui.document", "roamtui.conversation."))}
    assert own == {"roamtui.agent.specs", "roamtui.conversation.budget"}
    assert sorted(loaded.intersection({*_NOT_NEEDED_FOR_OUTLINE} - {"asyncio"})) == []


def test_the_first_screen_loads_only_what_it_shows() -> None:
    loaded = _list_loaded(
        "from roamtui.launch import AppServices, Bootstrap; from roamtui.tui.app import RoamApp\n"
        "services = AppServices(Bootstrap())\n"
        "app = RoamApp(services.options, services.open(('examples/handbook.md',)))\n"
        "type(app.documents['page-1'])._start = lambda screen: app.exit()\n"
        "app.run(headless=True)"
    )
    assert "roamtui.tui.screens.main" in loaded
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_FIRST_SCREEN)) == []


def test_nothing_looks_for_garbage_while_the_app_loads() -> None:
    program = (
        "import gc; from roamtui.cli import main; gc.collect()\n"
        "count = lambda: sum(generation['collections'] for generation in gc.get_stats())\n"
        "before = count(); assert main(['examples/handbook.md']) == 2  # without a terminal\n"
        "import roamtui.tui.screens.main; assert count() == before"
    )
    command = [sys.executable, "-c", program]
    subprocess.run(command, cwd=PROJECT_DIR, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def test_the_outline_of_a_file_loads_no_screen_agent_or_provider() -> None:
    loaded = _list_loaded("from roamtui.cli import main; assert main(['outline', 'examples/handbook.md']) == 0")
    assert "roamtui.outline.render" in loaded
    assert sorted(loaded.intersection(_NOT_NEEDED_FOR_OUTLINE)) == []
    assert not {name for name in loaded if name.startswith(("roamtui.agent.", "roamtui.quotes."))}
