"""No module imports itself by way of others, counting imports for type checking and inside functions.

A cycle that only types create is still a question of ownership: move the shared type to a module that imports neither.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.real_documents import PROJECT_DIR

_LAZY_EXPORTS = ("roamtui", "roamtui.api")
"""The package imports its public names when a program asks for one, and those modules import the package."""
_TYPE_CHECKING_MAX = 12
"""Files with imports for type checking only."""


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


def _find_cycles(imports: Mapping[str, set[str]]) -> set[str]:
    """Return the modules from which a way leads back to themselves."""

    def leads_back(start: str) -> bool:
        seen: set[str] = set()
        waiting = [*imports[start]]
        while waiting:
            module = waiting.pop()
            if module == start:
                return True
            if module not in seen:
                seen.add(module)
                waiting.extend(imports[module])
        return False

    return {module for module in imports if leads_back(module)}


def test_no_module_imports_itself_by_way_of_others() -> None:
    trees = _read_trees()
    imports = {module: set(_list_imports(tree, trees)) for module, tree in trees.items()}
    package, exports = _LAZY_EXPORTS
    imports[package].remove(exports)
    assert sorted(_find_cycles(imports)) == []


def test_only_the_app_knows_the_main_screen() -> None:
    """Besides the launcher, which loads it ahead of the app."""
    trees = _read_trees()
    importers = {module for module, tree in trees.items() if "roamtui.tui.screens.main" in _list_imports(tree, trees)}
    assert importers == {"roamtui.launch", "roamtui.tui.app"}


def test_few_files_import_for_type_checking_only() -> None:
    found = [
        module
        for module, tree in _read_trees().items()
        if any(isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING") for node in ast.walk(tree))
    ]
    assert len(found) <= _TYPE_CHECKING_MAX, found
