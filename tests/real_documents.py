"""Finds the real documents that tests read in place, and decodes them as a reader of files would."""

import codecs
import os
from functools import lru_cache
from pathlib import Path

PROJECT_DIR = Path(__file__).resolve().parents[1]
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def find_data_dir() -> Path:
    """Return where real documents should be; the folder may be missing."""
    configured = os.environ.get("ROAMTUI_DATA")
    return Path(configured) if configured else PROJECT_DIR.parent / "shared" / "data"


def list_documents(*patterns: str) -> list[str]:
    """Return the names, relative to the data folder, of the documents that match; none where there is no folder."""
    folder = find_data_dir()
    return sorted(str(path.relative_to(folder)) for pattern in patterns for path in folder.glob(pattern))


def decode(data: bytes) -> str:
    """Return the text of a file: by its byte order mark, else UTF-8 with what is broken replaced."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return data.decode("utf-8", "replace")


@lru_cache(maxsize=4)
def read_document(name: str) -> str:
    """Return the text of one document of the data folder."""
    return decode((find_data_dir() / name).read_bytes())
