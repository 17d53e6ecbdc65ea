"""Conversations on disk: a private folder that holds one log of JSON lines for each conversation."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import (
    EVENT_NAMES,
    ConversationRenamed,
    ConversationStarted,
    QuestionAsked,
    RecordedEvent,
)
from roamtui.conversation.library_sync import is_source_missing
from roamtui.conversation.line_file import LOG_SUFFIX, LineFile, delete_file_and_lock, map_store_errors
from roamtui.conversation.messages import Usage
from roamtui.conversation.state import ConversationState, fold_events, make_conversation_id
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import StoreError, format_reason
from roamtui.paths import get_conversations_path
from roamtui.sources.source_names import split_sources
from roamtui.text import format_count

_HEAD_START = b'{"format": "roamtui conversation", "version": '
_HEAD = _HEAD_START + b"4}\n"
"""First line of every log, with the version of its format."""
_KINDS: dict[str, type[RecordedEvent]] = {EVENT_NAMES[kind]: kind for kind in get_args(RecordedEvent)}
_DECODE_ERRORS = (ValueError, LookupError, TypeError, RecursionError)
"""Errors that decoding a damaged line may raise."""
_LINE_START = re.compile(rb'\{"event": "(\w+)", "at": "[\dT:.+-]+", ')
"""The start of an event, with its name."""
_COPY = "(copy)"
_ID_LENGTH_MAX = 60
"""Longer than any id, and short enough for the name of a file."""
_TORN = "The last change of this conversation was cut off on disk, and is left out."
_DAMAGED = "An entry of this conversation cannot be read, so you are now in a copy of what comes before it."
_PARTLY_DAMAGED = "It is damaged: the rest cannot be read."
_NO_SUCH = 'No conversation "{}". Run `roamtui conversations` to list them.'
_NO_LIBRARY = Library(source="", root=parse_document(""))
"""Takes the place of the document when a conversation is read without it."""


def encode_events(events: Iterable[RecordedEvent]) -> bytes:
    """Encode events as lines with the current time."""
    now = get_time()
    lines = ({"event": EVENT_NAMES[type(event)], "at": now, **msgspec.to_builtins(event)} for event in events)
    return b"".join(json.dumps(line).encode("ascii") + b"\n" for line in lines)


def get_time() -> str:
    """Return the current time as ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class DecodedLog(Struct, frozen=True, kw_only=True):
    """The lines of a log up to the first one that cannot be read, or that begins an unfinished change."""

    events: list[RecordedEvent]
    state: ConversationState
    """The state after these events, without the document."""
    size: int
    """Length of these lines in bytes."""
    is_damaged: bool
    """Whether a complete line cannot be read. A torn last change is no damage: killed programs leave it."""
    is_torn: bool

    @property
    def problem(self) -> str:
        """A sentence about the damage, or empty."""
        return _PARTLY_DAMAGED if self.is_damaged else ""

    @property
    def warning(self) -> str:
        """A sentence that says what is left out; empty if nothing is."""
        return self.problem or (_TORN if self.is_torn else "")

    @property
    def ended_state(self) -> ConversationState:
        """The state after the program ended: a question without an end counts as cancelled."""
        state = self.state
        return fold_events(state, state.exchanges[-1].cancellation) if state.is_asking else state


def decode_log(content: bytes, name: str) -> DecodedLog:
    """Decode the lines of a log up to the first one that cannot be read. Messages call the log `name`.

    Raise `StoreError` if it has another version, or if not even its start can be read.
    """
    head, *lines = content.splitlines(keepends=True) or (b"",)
    if head != _HEAD:
        if head.startswith(_HEAD_START) and head.endswith(b"}\n"):
            reason = "was saved by another version of roamtui, and only that version can open it"
            raise StoreError(f"{name} {reason}.")
        raise StoreError(f"{name} is damaged, or is not a roamtui conversation.")
    state = ConversationState(id="", library=_NO_LIBRARY)
    events: list[RecordedEvent] = []
    size = len(head)
    # The complete lines, without an unfinished last change.
    whole_count = 0
    whole_state = state
    whole_size = size
    for line in lines:
        start = _LINE_START.match(line)
        kind = _KINDS.get(start[1].decode("ascii")) if start is not None else None
        if start is None or kind is None or not line.endswith(b"}\n"):
            break
        try:
            event = msgspec.convert(json.loads(line), kind)
            state = fold_events(state, event)
        except _DECODE_ERRORS:
            break
        events.append(event)
        size += len(line)
        if not state.replaced:  # else the question that replaces these answers must follow
            whole_count = len(events)
            whole_state = state
            whole_size = size
    if not events or not isinstance(events[0], ConversationStarted):
        raise StoreError(f"{name} is damaged and cannot be read.")
    return DecodedLog(
        events=events[:whole_count],
        state=whole_state,
        size=whole_size,
        is_damaged=b"\n" in content[size:],
        is_torn=whole_size < len(content),
    )


class ConversationLog:
    """The events of one conversation and their file, which is locked from the first write until `close`."""

    def __init__(
        self, path: Path | None, events: Iterable[RecordedEvent], file: LineFile | None = None
    ) -> None:
        """Start with the `events` so far. Their `file` is None if none of them is on disk yet.

        Without a `path`, nothing is written.
        """
        self._path = path
        self._file = file
        self.events = [*events]
        self._saved_count = 0 if file is None else len(self.events)
        self._writing = Lock()

    @property
    def is_saved(self) -> bool:
        """Whether some of its events are on disk."""
        return self._saved_count > 0

    def save(self) -> None:
        """Append the new events to the file. When this returns, all are on disk. Callable from any thread.

        Raises:
            StoreError: They could not be written. The next call tries again.
        """
        path = self._path
        if path is None:
            return
        with self._writing, map_store_errors("save the conversation", path.parent):
            # Not before the lock: if the log was saved and closed meanwhile, its file must stay closed.
            if self._file is None and self._saved_count == len(self.events):
                return
            if self._file is None:
                self._file = LineFile(path)
            count = len(self.events)
            lines = encode_events(self.events[self._saved_count : count])
            self._file.append(lines if self._saved_count else _HEAD + lines)
            self._saved_count = count

    def close(self, *, is_deleted: bool = False) -> None:
        """Release the log for other programs, or delete it. If deleting fails, still no list shows it."""
        with self._writing:
            file = self._file
            path = self._path
            self._file = None
        if file is None or path is None:
            return
        with suppress(OSError):
            if is_deleted:
                delete_file_and_lock(path)
        file.close()


class ConversationSummary(Struct, frozen=True, kw_only=True):
    """One entry in a list of conversations."""

    id: str
    source: str = ""
    added_sources: tuple[str, ...] = ()
    title: str = ""
    model: str = ""
    used_at: str
    """When a program last wrote or left it. ISO 8601, UTC."""
    questions: int = 0
    open_sections: int = 0
    usage: Usage = Usage()
    """What all its requests have used."""
    is_one_shot: bool = False
    """Whether it has questions, and all are of `roamtui ask`."""
    text: str = ""
    """All questions and answers."""
    problem: str = ""
    """A sentence that says why not all of the log can be read. Empty if all of it can."""

    @property
    def is_listed(self) -> bool:
        """Whether lists show it. They leave out one-shot conversations whose log is not damaged."""
        return bool(self.problem) or not self.is_one_shot

    @property
    def size_label(self) -> str:
        """The number of its questions. Without questions, the number of its open sections, if it has any."""
        if self.questions or not self.open_sections:
            return format_count(self.questions, "question")
        return f"{format_count(self.open_sections, 'section')} open, no question yet"


class ConversationStore:
    """All conversations of a person. Several threads and programs may use them at the same time.

    Raises:
        StoreError: The folder cannot be read; or the conversation does not exist, cannot be read or written,
            or must not be changed because another program uses it. Any method may raise this.
    """

    def __init__(self, folder: Path) -> None:
        """Keep the logs in `folder`, which need not exist yet."""
        self._folder = folder

    @property
    def notes_folder(self) -> Path:
        """Folder with the person's notes."""
        return self._folder.with_name("notes")

    @property
    def drafts_folder(self) -> Path:
        """Folder with what a person has typed and not sent."""
        return self._folder / "drafts"

    def start(self, conversation_id: str, events: Iterable[RecordedEvent]) -> ConversationLog:
        """Start the log of a new conversation. Nothing is written yet."""
        return ConversationLog(self._get_path(conversation_id), events)

    def open(self, conversation_id: str) -> tuple[ConversationLog, ConversationState, str]:
        """Open a log to continue a conversation. Return the log, the state without a document, and a warning.

        If another program uses the log, or it cannot be written, or an entry in it cannot be read, return a
        copy with a new id. The log itself then stays as it is.
        """
        path = self._get_path(conversation_id)
        file: LineFile | None = None
        warning = _DAMAGED
        content = self._read_bytes(conversation_id)
        with ExitStack() as stack:
            try:
                file = stack.enter_context(closing(LineFile(path)))
                content = self._read_bytes(conversation_id)  # the last program may have written more
            except OSError as error:
                reason = format_reason(error)
                warning = f"This conversation cannot be changed ({reason}), so you are now in a copy of it."
            log = decode_log(content, f"The conversation {conversation_id}")
            if file is not None and not log.is_damaged:
                stack.pop_all()  # the log closes it
                file.cut(log.size)
                return ConversationLog(path, log.events, file), log.state, log.warning
        copy_id = make_conversation_id()
        started, *rest = log.events
        title = log.state.title.removesuffix(_COPY).rstrip()
        renamed = ConversationRenamed(title=f"{title} {_COPY}".lstrip())
        copy = self.start(copy_id, (replace(started, conversation_id=copy_id), *rest, renamed))
        return copy, fold_events(replace(log.state, id=copy_id), renamed), warning

    def read(self, conversation_id: str) -> DecodedLog:
        """Read the log of a conversation, without locking it."""
        return decode_log(self._read_bytes(conversation_id), f"The conversation {conversation_id}")

    def load(self, conversation_id: str) -> ConversationState:
        """Return the last state of a conversation, without its document."""
        return self.read(conversation_id).ended_state

    def list(self) -> tuple[ConversationSummary, ...]:
        """Return all conversations, the last used one first.

        The summary of an unreadable log says so. Logs without a question or an open section are left out.
        """
        return tuple(self._iter_summaries())

    def _iter_summaries(self) -> Iterator[ConversationSummary]:
        """Yield what `list` returns. Each log is read when its turn comes."""
        used: list[tuple[int, Path]] = []
        with map_store_errors("read the conversations", self._folder), suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                with suppress(FileNotFoundError):
                    if (
                        path == self._get_path(path.stem)
                        and path.is_file()
                        and (about := path.stat()).st_size
                    ):
                        used.append((about.st_mtime_ns, path))
        for _, path in sorted(used, reverse=True):
            with suppress(FileNotFoundError):
                summary = _summarise(path)
                if summary.questions or summary.open_sections or summary.problem:
                    yield summary

    def is_saved(self, conversation_id: str) -> bool:
        """Return whether there is a log of a conversation, which may be damaged."""
        return self._get_path(conversation_id).exists()

    def mark_used(self, conversation_id: str) -> bool:
        """Make a conversation the last used one. Return False if it is not saved."""
        path = self._get_path(conversation_id)
        now = time.time_ns()
        with suppress(OSError):  # then it keeps its place in the list
            os.utime(path, ns=(now, now))
        return self.is_saved(conversation_id)

    def get_latest(self, source: str | None = None, *, with_one_shots: bool = False) -> ConversationSummary:
        """Return the latest conversation that can be continued.

        Without a `source`, it may be about any document that is still there. Conversations of `roamtui ask`
        count only `with_one_shots`. Raise `StoreError` if there is no such conversation.
        """
        same_documents = ""
        wanted = {*split_sources(source)} if source is not None else set()
        for summary in self._iter_summaries():
            if summary.problem or (summary.is_one_shot and not with_one_shots):
                continue
            if summary.source == source or (source is None and not is_source_missing(summary.source)):
                return summary
            names = (summary.source, *summary.added_sources)
            if not same_documents and wanted == {*chain.from_iterable(map(split_sources, names))}:
                same_documents = summary.id
        if same_documents:
            raise StoreError(
                "These documents were opened in another order, or one was added later."
                f" To continue, run `roamtui --conversation {same_documents}`."
            )
        about = "" if source is None else " about this document"
        raise StoreError(
            f"No conversation{about} can be continued. To start one, name a document and leave out"
            " --continue."
        )

    def rename(self, conversation_id: str, title: str) -> None:
        """Rename a conversation that no program uses."""
        with self._using(conversation_id, "rename") as file:
            log = self.read(conversation_id)
            if log.is_damaged:
                advice = "Resume it: roamtui then opens a copy, which can be renamed."
                problem = f"The conversation {conversation_id} is damaged and cannot be renamed."
                raise StoreError(f"{problem} {advice}")
            file.cut(log.size)
            file.append(encode_events((ConversationRenamed(title=title),)))

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation that no program uses, and its draft."""
        with self._using(conversation_id, "delete"):
            path = self._get_path(conversation_id)
            for draft in self.drafts_folder.glob(f"*-{conversation_id}.*"):
                draft.unlink()
            delete_file_and_lock(path)

    @contextmanager
    def _using(self, conversation_id: str, verb: str) -> Iterator[LineFile]:
        path = self._get_path(conversation_id)
        with map_store_errors(f"{verb} the conversation", self._folder):
            if not path.is_file():
                raise StoreError(_NO_SUCH.format(conversation_id))
            with closing(LineFile(path)) as file:
                yield file

    def _get_path(self, conversation_id: str) -> Path:
        is_name = conversation_id.isalnum() and len(conversation_id) <= _ID_LENGTH_MAX
        name = conversation_id if is_name else "-"
        return self._folder / f"{name}{LOG_SUFFIX}"

    def _read_bytes(self, conversation_id: str) -> bytes:
        path = self._get_path(conversation_id)
        with map_store_errors(f"read the conversation {conversation_id}", self._folder):
            content = path.read_bytes() if path.is_file() else b""
        if not content:
            raise StoreError(_NO_SUCH.format(conversation_id))
        return content


def format_time(moment: str) -> str:
    """Format a saved moment in the time of this computer. Empty if it is damaged."""
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    return ""


def open_store() -> ConversationStore:
    """Open the store of the person's conversations."""
    return ConversationStore(get_conversations_path())


def _summarise(path: Path) -> ConversationSummary:
    used_at = ""
    with suppress(ValueError, OverflowError):  # the clock of another system may give any time
        used_at = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="microseconds")
    try:
        with map_store_errors("read it", path):
            content = path.read_bytes()
        log = decode_log(content, "It")
    except StoreError as error:
        return ConversationSummary(id=path.stem, used_at=used_at, problem=str(error))
    state = log.ended_state
    exchanges = state.exchanges
    asked = [event.is_one_shot for event in log.events if isinstance(event, QuestionAsked)]
    return ConversationSummary(
        id=path.stem,
        source=state.source,
        added_sources=state.added_sources,
        title=state.title,
        model=state.model,
        used_at=used_at,
        questions=len(exchanges),
        open_sections=len(state.open_sections),
        usage=state.spent,
        is_one_shot=bool(asked) and all(asked),
        text="\n".join(text for exchange in exchanges for text in (exchange.question, exchange.answer)),
        problem=log.problem,
    )
