"""Files of a library are its documents."""

from __future__ import annotations

from roamtui.search.documents import list_files
from tests.search.libraries import id_of, make_folder, make_library


def test_a_single_document_has_no_files() -> None:
    library = make_folder({"one.md": "# One\n\nText.\n", "two.md": "# Two\n\nText.\n"})
    assert list_files(library) == (id_of(library, "one.md"), id_of(library, "two.md"))
    assert list_files(make_library("# Only\n\nText.\n")) == ()
