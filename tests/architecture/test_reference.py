"""What the documentation says is what the program does: keys, options, commands, paths, links and promises."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from docs.write_reference import fill_blocks, list_pages
from roamtui.cli import COMMANDS
from roamtui.conversation.events import EVENT_NAMES
from roamtui.document.parse import parse_document
from roamtui.models.options import ModelOptions
from roamtui.settings import Settings, list_key_types, load_settings
from roamtui.tui.actions import ACTIONS
from roamtui.tui.themes import DEFAULT_THEME
from tests.cli.conftest import list_flags
from tests.real_documents import PROJECT_DIR

_PAGES = sorted([*PROJECT_DIR.glob("*.md"), *(PROJECT_DIR / "docs").glob("*.md")])
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_FILE = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md|toml|jsonl?|txt|sqlite3|tcss|yml)")
_ID = re.compile(r"[0-9A-Fa-f]{8}")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?:\([\w, .=()]*\))?")
_SETTING = re.compile(r"(?:\[(\w+)\] )?(\w+) = \S.*")
_COMMENTED_SETTING = re.compile(r"^# (?=\w+ = )", re.MULTILINE)
_COMMAND_LINE = re.compile(rf"(?:\$ )?((?:roamtui |(?:{'|'.join(COMMANDS)}) (?=.*--)).*)")
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_KEY = re.compile(r"(?:ctrl|alt|shift)\+\S+|f\d+|[A-Za-z]|backspace|delete|enter|esc|space|tab")
_FOLDERS = ("roamtui", "tests", "docs", "examples", "themes", ".ci", ".github")
_README_LINES_MAX = 160
_OF_OTHERS = {
    *(
        "AWS_SESSION_TOKEN",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ENDPOINT",
        "AWS_REGION",
        "AWS_ALLOW_HTTP",
    ),
    *("batch_undone", "find_tables", "fg", "negated", "T0", "TablesFound"),
}
"""Names of other programs, of older versions, and of what the changes of CONTRIBUTING.md would add."""
_NEW_PATHS = {
    "roamtui/agent/tools/tables.py",
    "roamtui/convert/asciidoc.py",
    "tests/convert/test_asciidoc.py",
}
"""Files that the four changes of CONTRIBUTING.md would add."""


def test_generated_parts_of_every_page_are_up_to_date() -> None:
    stale = [page.name for page in list_pages() if fill_blocks(page.read_text("utf-8")) != page.read_text("utf-8")]
    assert stale == [], "run `make docs`"


def test_the_readme_is_short_and_names_both_commands() -> None:
    readme = (PROJECT_DIR / "README.md").read_text("utf-8")
    assert readme.count("\n") <= _README_LINES_MAX
    assert re.search(r"^make run .*\nmake test ", readme, re.MULTILINE)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))
    links = [link for token in tokens for link in token.children or () if link.type in ("link_open", "image")]
    hrefs = [str(link.attrGet("href") or link.attrGet("src")) for link in links]
    assert sorted(href for href in hrefs if not _leads_somewhere(href, page)) == []


def _leads_somewhere(href: str, page: Path) -> bool:
    path, _, anchor = href.partition("#")
    target = page.parent / path if path else page
    if href.startswith(("https://", "http://")) or (target.exists() and not anchor):
        return True
    return target.is_file() and anchor in parse_document(target.read_text("utf-8")).anchors


def _list_spans(page: Path) -> list[str]:
    """Return what stands in backticks on a page."""
    return [" ".join(span.split()) for span in _SPAN.findall(_FENCE.sub("", page.read_text("utf-8")))]


def _list_code(page: Path) -> list[str]:
    """Return what stands in backticks on a page, and the lines of its blocks of code."""
    return _list_spans(page) + [
        line for _, block in _FENCE.findall(page.read_text("utf-8")) for line in block.splitlines()
    ]


@cache
def _read_sources(*folders: str) -> str:
    """Return the code and the data of folders, without this test."""
    paths = [path for folder in folders for path in sorted((PROJECT_DIR / folder).rglob("*"))]
    kinds = (".py", ".toml", ".json", ".jsonl", ".tcss", ".txt")
    return "\n".join(path.read_text("utf-8") for path in paths if path.suffix in kinds and path != Path(__file__))


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    spans = [span for span in _list_spans(page) if _FILE.fullmatch(span.partition("::")[0])]
    assert [span for span in spans if span not in _NEW_PATHS and not _is_path(*span.split("::"))] == []


def _is_path(path: str, test: str = "") -> bool:
    """Return whether a path of the project is there, with a test; a person's file if the program names it."""
    if path.startswith(tuple(f"{folder}/" for folder in _FOLDERS)):
        file = PROJECT_DIR / path
        return file.exists() and (not test or f"def {test}(" in file.read_text("utf-8"))
    below = [PROJECT_DIR / folder for folder in _FOLDERS]
    if (PROJECT_DIR / path).exists() or any(True for folder in below for _ in folder.rglob(path.strip("/"))):
        return True
    parts = [part for part in path.split("/") if part and not re.search("[A-Z]{2}", part)]
    return path.startswith(".venv/") or all(part in _read_sources("roamtui") for part in parts)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_name_on_a_page_is_in_the_code(page: Path) -> None:
    spans = [span for span in _list_spans(page) if not _ID.fullmatch(span) and not _FILE.fullmatch(span)]
    names = [span for span in spans if _NAME.fullmatch(span)]
    sources = _read_sources("roamtui", "tests", "docs") + (PROJECT_DIR / "pyproject.toml").read_text("utf-8")
    known = _OF_OTHERS.union(re.findall(r"\w+", sources), EVENT_NAMES.values())
    assert [name for name in names if not known.issuperset(re.findall(r"[A-Za-z_]\w+", name))] == []


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_command_and_flag_on_a_page_is_understood(page: Path) -> None:
    wrong = []
    for line in _list_code(page):
        flags = set(_FLAG.findall(line))
        if found := _COMMAND_LINE.fullmatch(line):
            words = found[1].removeprefix("roamtui ").split()
            wrong += [line] if not flags <= _list_flags(words[0]) else []
        elif target := re.match(r"make ([a-z-]+)", line):
            wrong += [line] if f"\n{target[1]}: " not in (PROJECT_DIR / "Makefile").read_text("utf-8") else []
        elif module := re.search(r"python -m (tests[\w.]+)", line):
            file = PROJECT_DIR / Path(*module[1].split(".")).with_suffix(".py")
            wrong += [line] if not file.is_file() or not all(flag in file.read_text("utf-8") for flag in flags) else []
        elif line.startswith("--"):
            wrong += [line] if not any(flags <= _list_flags(name) for name in ("", *COMMANDS)) else []
    assert wrong == []


@cache
def _list_flags(command: str) -> frozenset[str]:
    """Return the flags of a command, or of the app for any other word."""
    return list_flags(command if command in COMMANDS else "")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_setting_on_a_page_is_one(page: Path, tmp_path: Path) -> None:
    keys = {place.rpartition(".")[2] for place in list_key_types()}
    found = [_SETTING.fullmatch(span) for span in _list_spans(page)]
    assert [one[0] for one in found if one and one[2] not in keys] == []
    for kind, block in _FENCE.findall(page.read_text("utf-8")):
        if kind == "toml" and not re.search(r"\[\[(sites|sources)]]", block):  # which are files of their own
            (tmp_path / "config.toml").write_text(_COMMENTED_SETTING.sub("", block), "utf-8")
            load_settings(path=tmp_path / "config.toml")


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_every_key_on_a_page_does_something(page: Path) -> None:
    known = {key for action in ACTIONS for key in action.key_names}
    assert [span for span in _list_spans(page) if _KEY.fullmatch(span) and span not in known] == []


def test_every_setting_is_in_the_reference() -> None:
    page = (PROJECT_DIR / "docs" / "using.md").read_text("utf-8")
    table = tomllib.loads(next(block for kind, block in _FENCE.findall(page) if kind == "toml"))
    keys = {f"{name}.{key}" for name in table if isinstance(table[name], dict) for key in table[name]}
    top = {name for name in table if not isinstance(table[name], dict)}
    assert (keys | top) - {"keys.section.open"} == set(list_key_types()) - {"keys", "models"}


def test_a_setting_has_the_default_that_the_reference_shows(tmp_path: Path) -> None:
    page = (PROJECT_DIR / "docs" / "using.md").read_text("utf-8")
    lines = next(block for kind, block in _FENCE.findall(page) if kind == "toml").splitlines()
    defaults = [line for line in lines if "# example" not in line]
    (tmp_path / "config.toml").write_text("\n".join(defaults), "utf-8")
    seconds = ModelOptions().get_first_token_timeout(None)
    assert load_settings(path=tmp_path / "config.toml") == replace(
        Settings(), theme=DEFAULT_THEME, first_token_seconds=seconds
    )


_HOLDER = re.compile(r": `([\w/]+\.py)(?:::(\w+))?`$", re.MULTILINE)


def test_each_promise_has_its_test() -> None:
    text = (PROJECT_DIR / "tests" / "PROMISES.md").read_text("utf-8")
    holders = _HOLDER.findall(text)
    assert len(holders) == text.count("\n- ")
    missing = []
    for path, name in holders:
        file = PROJECT_DIR / "tests" / path
        if not file.exists() or f"def {name}" not in file.read_text("utf-8"):
            missing.append(f"{path}::{name}")
    assert missing == []
