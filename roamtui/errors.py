"""Errors that a person may see. Each message is a sentence that names the failure and a remedy."""

from collections.abc import Iterable

_SIMILARITY_MIN = 0.5
EXIT_CANCELLED = 130
"""Exit status of a cancelled command. Shells use the same number for a command that ctrl+c ended."""


class RoamtuiError(Exception):
    """A failure that a person can understand. Only its message is shown. The exit status is 1."""

    exit_code = 1


class UsageError(RoamtuiError):
    """Wrong use of the program. Exit status 2."""

    exit_code = 2


class SourceError(RoamtuiError):
    """A document could not be read, or its format is not supported."""


class OpeningCancelledError(RoamtuiError):
    """A person cancelled opening a document."""

    def __init__(self) -> None:
        super().__init__("Opening was cancelled.")


class UnknownSectionError(RoamtuiError):
    """The library has no section with this id or name, or no such part of it."""

    def __init__(self, name: str, problem: str = "") -> None:
        super().__init__(problem or f'There is no section "{name}". The outline lists the ids.')


class ModelError(RoamtuiError):
    """A model could not answer."""


class StoreError(RoamtuiError):
    """Saved data cannot be read or written."""


def format_nearest_name(name: str, known: Iterable[str]) -> str:
    """Return a sentence that asks for the nearest known name, after a space. Empty if none is near."""
    from rapidfuzz.distance import OSA, JaroWinkler  # noqa: PLC0415 - only for mistyped names

    def measure(other: str) -> tuple[float, float]:
        return OSA.normalized_similarity(name, other), JaroWinkler.similarity(name, other)

    nearest = max(known, key=measure, default="")
    return f' Did you mean "{nearest}"?' if measure(nearest)[0] >= _SIMILARITY_MIN else ""


def format_reason(error: Exception) -> str:
    """Return why an error happened, as part of a sentence, without the path of a file."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def format_file_error(error: OSError) -> str:
    """Return a failure of the disk, as a sentence."""
    file = "a file" if error.filename is None else error.filename
    return f"Could not read or write {file}: {format_reason(error)}."
