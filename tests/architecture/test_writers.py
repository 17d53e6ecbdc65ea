"""Each call that makes, changes, replaces or removes a file is known, so that a new one is decided on.

What replaces a file that a person may want back goes through `replace_file`.
"""

import ast
import re
from collections.abc import Iterator

from tests.real_documents import PROJECT_DIR

_PACKAGE = PROJECT_DIR / "roamtui"
_WRITING_MODE = re.compile(r"(?=.*[wax+])[rwaxbt+]{1,3}")
_WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
_WRITING_NAMES = {
    *("write_text", "write_bytes", "touch", "ftruncate", "symlink_to", "hardlink_to", "unlink", "rmdir", "rmtree"),
    *("copy2", "copyfile", "copytree", "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryDirectory"),
}
_WRITING_NAMES_OF_MODULES = {"truncate", "symlink", "link", "remove", "removedirs", "renames", "copy", "move"}
"""Names of `os` and `shutil` that widgets and texts have too."""
_KNOWN = {
    "paths.py open_private_file": "opens an own file for those below, and keeps what is in it",
    "paths.py replace_file": "writes beside and replaces: every file of a person",
    "file_cache.py FileCache._trim": "removes cached files",
    "conversation/line_file.py LineFile.append": "adds lines to an own file, and cuts off what a failed write left",
    "conversation/line_file.py delete_file_and_lock": "removes an own draft that was sent, or an own log",
    "conversation/log.py ConversationStore.delete": "removes a conversation for the person",
    "conversation/notes.py NoteStore._write": "removes what a killed program has half written",
    "models/litellm_worker.py claim_stdio": "opens the null device",
    "cli.py main": "opens the null device",
    "cli.py _detach_streams": "opens the null device",
    "tui/app.py RoamApp._leave_terminal": "opens the null device",
    "launch.py Launch._reattach_terminal": "opens the terminal",
    "search/section_store.py SectionStore.__init__": "opens an index, which can be made again",
    "search/section_store.py load_summaries": "opens an index to read",
    "search/section_store.py delete_index": "removes an index, which can be made again",
    "search/lexicon.py _open_stemmer": "is in memory",
    "search/lance.py LanceStore.__init__": "opens the database that the person named",
    "sources/listing.py read_listed": "opens a document to read",
}
"""Functions that write, each with the reason why no file of a person can be lost in it."""


def test_every_writer_of_files_is_known() -> None:
    found = {
        f"{path.relative_to(_PACKAGE).as_posix()} {function}"
        for path in _PACKAGE.rglob("*.py")
        for function in _list_writers(ast.parse(path.read_text("utf-8")), "")
    }
    assert found == {*_KNOWN}


def _list_writers(node: ast.AST, place: str) -> Iterator[str]:
    """Yield the function of each call that writes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _list_writers(child, f"{place}.{child.name}".lstrip("."))
        else:
            if isinstance(child, ast.Call) and _is_writing(child):
                yield place
            yield from _list_writers(child, place)


def _is_writing(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    owner_name = owner.id if isinstance(owner, ast.Name) else ""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            pass
        case _:
            return False
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if name == "open" and owner_name == "os":
        names = {part.attr for value in values for part in ast.walk(value) if isinstance(part, ast.Attribute)}
        return bool(names & _WRITING_FLAGS) or not any(each.startswith("O_") for each in names)
    if name in ("open", "fdopen"):
        modes = [value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]
        is_unknown = any(isinstance(value, ast.Name) and value.id in ("mode", "flags") for value in values)
        return is_unknown or any(_WRITING_MODE.fullmatch(str(mode.value)) for mode in modes)
    if name == "connect":
        return owner_name in ("sqlite3", "lancedb")
    if name in ("replace", "rename"):  # a text is given two, a struct names its own, a store is given an id first
        return owner is not None and (owner_name == "os" or (len(call.args) == 1 and not call.keywords))
    is_of_module = owner_name in ("os", "shutil") and name in _WRITING_NAMES_OF_MODULES
    return is_of_module or (owner is not None and name in _WRITING_NAMES)
