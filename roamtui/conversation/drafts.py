"""`DraftFile`: keeps on disk what a person has typed and not sent, for the next start of the program."""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from hashlib import blake2b

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
                return msgspec.convert(json.loads(self._path.read_bytes()), list[str])
        return []

    def adopt_newest(self, *, is_start: bool, is_new: bool) -> bool:
        """Take the newest draft that no program uses, unless the conversation has one.

        A conversation takes its own draft, from before its document moved. When the program starts, it takes
        another one of its document too: one that was typed before anything was asked or, if it `is_new`, any.
        Return whether another window has a draft of the document. May raise `OSError`.
        """
        if self._path.exists():
            return False
        own_name = self._path.name.removeprefix(self._prefix)
        drafts = {*self._path.parent.glob(f"*-{own_name}")}
        if is_start:
            drafts.update(self._path.parent.glob(f"{self._prefix}*{_SUFFIX}"))
        times = {path: path.stat().st_mtime_ns for path in drafts}
        is_elsewhere = False
        for path in sorted(times, key=times.__getitem__, reverse=True):
            conversation_id = path.stem.rpartition("-")[2]
            with ExitStack() as stack:
                try:
                    stack.callback(acquire_lock(path))
                except OSError:
                    is_elsewhere = True
                    continue
                if is_new or path.name.endswith(own_name) or not self._store.is_saved(conversation_id):
                    path.rename(self._path)
                    delete_file_and_lock(path)
                    return False
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
