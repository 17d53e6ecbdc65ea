"""`DraftFile`: what a person has typed and not sent, on disk, so that it outlives the program."""

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from roamtui.conversation.line_file import acquire_lock, get_lock_path
from roamtui.conversation.log import ConversationStore
from roamtui.paths import replace_file

_SUFFIX = ".txt"


class DraftFile:
    """The draft of one conversation or note, in a small file beside the logs. Any method may raise `OSError`.

    The program that has written or taken it holds its lock, so that two windows on one document never
    share one.
    """

    def __init__(self, store: ConversationStore, source: str, conversation_id: str) -> None:
        """Nothing is read or written yet. `source` is the key of the document, or of the note."""
        self._prefix = f"{blake2b(source.encode(), digest_size=8).hexdigest()}-"
        self._path = store.drafts_folder / f"{self._prefix}{conversation_id}{_SUFFIX}"
        self._release: Callable[[], None] | None = None

    def find(self, *, is_new: bool) -> str:
        """Return the draft, or "". A new conversation takes over the newest one that no program uses."""
        if not is_new:
            self._release = acquire_lock(self._path) if self._path.exists() else None
            return self._path.read_text("utf-8", "surrogatepass") if self._release is not None else ""
        drafts = self._path.parent.glob(f"{self._prefix}*{_SUFFIX}")
        times = {path: path.stat().st_mtime_ns for path in drafts}
        for path in sorted(times, key=times.__getitem__, reverse=True):
            with suppress(OSError):  # another window uses it
                release = acquire_lock(path)
                text = path.read_text("utf-8", "surrogatepass")
                self.write(text)
                _remove(path)
                release()
                return text
        return ""

    def write(self, text: str) -> None:
        """Keep a text, or no file if it is blank."""
        if not text.strip():
            self.close(is_kept=False)
            return
        self._release = self._release or acquire_lock(self._path)
        # a flush to disk would delay keys, and only a power cut loses what is not flushed
        replace_file(self._path, text.encode("utf-8", "surrogatepass"), is_flushed=False)

    def close(self, *, is_kept: bool = True) -> None:
        """Let other programs find the draft, or remove it."""
        if self._release is not None:
            if not is_kept:
                _remove(self._path)
            self._release()
            self._release = None


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with suppress(OSError):  # Windows deletes the lock when it is released
        get_lock_path(path).unlink()
