"""`DraftFile`: keeps on disk what a person has typed and not sent, for the next start of the program."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import msgspec

from roamtui.conversation.line_file import acquire_lock, delete_file_and_lock
from roamtui.conversation.log import ConversationStore
from roamtui.paths import replace_file

_SUFFIX = ".json"


class DraftFile:
    """The draft of one conversation or note: a list of texts, in a small file next to the logs.

    The program that has written or loaded a draft holds its lock, so that two windows never share one. If the
    disk fails, what is typed is only on the screen.
    """

    def __init__(self, store: ConversationStore, source: str, conversation_id: str) -> None:
        """Read and write nothing yet. `source` is the key of the document or of the note."""
        key = source.encode("utf-8", "surrogatepass")
        self._store = store
        self._prefix = f"{blake2b(key, digest_size=8).hexdigest()}-"
        self._path = store.drafts_folder / f"{self._prefix}{conversation_id}{_SUFFIX}"
        self._release: Callable[[], None] | None = None

    def load(self) -> list[str]:
        """Return the texts of the draft, if there are any."""
        with suppress(OSError, ValueError):  # a power cut may leave an empty file
            if self._path.exists():
                self._release = self._release or acquire_lock(self._path)
                return _read(self._path)
        return []

    def adopt(self, *, is_start: bool, is_new: bool) -> bool:
        """Take the drafts that no program uses, and put them before the conversation's own.

        A conversation takes its own draft, from before its document moved. When the program starts, it takes
        others of its document too: those that were typed before anything was asked and, if it `is_new`, the
        newest one, whatever it belongs to.
        Return whether another window has a draft of the document. May raise `OSError`.
        """
        own_name = self._path.name.removeprefix(self._prefix)
        drafts = {*self._path.parent.glob(f"*-{own_name}")}
        if is_start:
            drafts.update(self._path.parent.glob(f"{self._prefix}*{_SUFFIX}"))
        times = {path: path.stat().st_mtime_ns for path in drafts - {self._path}}
        adopted: dict[Path, list[str]] = {}
        is_elsewhere = False
        with ExitStack() as stack:
            for path in sorted(times, key=times.__getitem__, reverse=True):
                conversation_id = path.stem.rpartition("-")[2]
                try:
                    stack.callback(acquire_lock(path))
                except OSError:
                    is_elsewhere = True
                    continue
                is_unasked = path.name.endswith(own_name) or not self._store.is_saved(conversation_id)
                if is_unasked or (is_new and not adopted):
                    with suppress(ValueError):
                        adopted[path] = _read(path)
            if adopted:
                texts = dict.fromkeys(chain(*reversed(adopted.values()), self.load()))
                self._release = self._release or acquire_lock(self._path)
                replace_file(self._path, json.dumps([*texts]).encode("ascii"))
                for path in adopted:  # only now, or a full disk would lose them
                    delete_file_and_lock(path)
        return is_elsewhere

    def write(self, texts: Sequence[str]) -> None:
        """Replace the kept texts. Without texts, the file is removed."""
        if not texts:
            self.close(is_kept=False)
            return
        with suppress(OSError):
            self._release = self._release or acquire_lock(self._path)
            # a flush to disk would delay keys, and only a power cut loses what is not flushed
            replace_file(self._path, json.dumps(texts).encode("ascii"), is_flushed=False)

    def close(self, *, is_kept: bool = True) -> None:
        """Release the draft for other programs, or delete it."""
        if self._release is not None:
            with suppress(OSError):
                if not is_kept:
                    delete_file_and_lock(self._path)
            self._release()
            self._release = None


def _read(path: Path) -> list[str]:
    return msgspec.convert(json.loads(path.read_bytes()), list[str])
