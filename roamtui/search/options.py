"""What a person may set about search: one class, from which the table of the settings and the flags are read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar, cast

from roamtui.errors import UsageError

_T = TypeVar("_T")
_CHUNK_SIZE_MIN = 50
_CHUNK_SIZE_MAX = 8_000


class SearchMode(StrEnum):
    """How sections are found."""

    OFF = "off"
    """Not at all: the outline alone shows the way."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class Rerank(StrEnum):
    """Whether a model orders what was found."""

    OFF = "off"
    SCORES = "scores"
    """It gives each section 0 to 10, all in one call."""
    CHOOSE = "choose"
    """It names the best ones, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSpec:
    """What one option may be, and what a person is told of it."""

    help: str
    low: float = 0
    """Smallest number, itself included."""
    high: float = math.inf
    """Largest number, itself included."""
    kind: type = str
    """`int`, `float`, `bool`, `str`, or an enumeration of the choices."""
    has_flag: bool = False
    """Whether it is a flag of the command line too."""


def _set(
    default: _T,
    help: str,  # noqa: A002 - argparse's name for it
    *,
    low: float = 0,
    high: float = math.inf,
    kind: type | None = None,
    has_flag: bool = False,
) -> _T:
    spec = OptionSpec(help=help, low=low, high=high, kind=kind or type(default), has_flag=has_flag)
    return field(default=default, metadata={"spec": spec})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """How sections are found. Each field is a key of the settings' table `[retrieval]`, six are flags too."""

    mode: SearchMode = _set(SearchMode.KEYWORD, "how to search", has_flag=True)
    embedder: str | None = _set(
        None,
        "ollama/MODEL, openai/MODEL or another of litellm's; local:NAME or a folder for one on this machine",
        kind=str,
        has_flag=True,
    )
    embedder_api_base: str | None = _set(None, "address of the embedder's server", kind=str)
    index: str | None = _set(
        None,
        "a LanceDB database in place of the index on this machine: a folder, s3://… or db://…",
        kind=str,
        has_flag=True,
    )
    limit: int | None = _set(None, "sections at most, whoever searches", low=1, kind=int, has_flag=True)
    max_tokens: int | None = _set(None, "tokens of all sections found, at most", low=1, kind=int)
    score_threshold: float = _set(0.0, "leave out what has less than this share of the best score", high=1)
    keyword_weight: float = _set(1.0, "of the list by words")
    vector_weight: float = _set(0.4, "of the list by vectors")
    trust_words: bool = _set(True, "let vectors count less, and move what is first less, the clearer words find")  # noqa: FBT003
    follow_up_weight: float = _set(2.0, "of the list by vectors where the conversation says what a follow-up is about")
    heading_boost: float = _set(3.0, "of a word in a section's title, where one in its text is 1")
    path_boost: float = _set(1.0, "of a word in the titles above and the file's path")
    vector_top: int = _set(100, "sections by vectors at most", low=1)
    candidates: int = _set(100, "sections by words at most", low=1)
    fusion_k: int = _set(60, "constant of reciprocal rank fusion", low=1)
    parent_weight: float = _set(0.75, "of a section's score that its parent gets", high=1)
    child_weight: float = _set(0.7, "of a section's score that its children get", high=1)
    sibling_weight: float = _set(0.6, "of a section's score that those beside it get", high=1)
    neighbour_depth: int = _set(1, "steps from a section to its neighbours", high=5)
    neighbour_count: int = _set(0, "neighbours that may join in")
    siblings_per_node: int = _set(2, "sections beside one, and below one, that are its neighbours", low=1)
    chunk_size: int = _set(600, "characters of a chunk", low=_CHUNK_SIZE_MIN, high=_CHUNK_SIZE_MAX)
    chunk_overlap: int = _set(0, "characters that a chunk repeats of the one before")
    rerank: Rerank = _set(Rerank.OFF, "let the model order what was found; it costs a request", has_flag=True)
    rerank_count: int = _set(20, "sections that the model orders", low=2, high=100)
    rewrite: bool = _set(
        False,  # noqa: FBT003 - the default
        "let the model put a follow-up as a question of its own; it costs a request",
        has_flag=True,
    )

    @property
    def needs_vectors(self) -> bool:
        """Whether sections have to be embedded."""
        return self.mode in (SearchMode.VECTOR, SearchMode.HYBRID)

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            UsageError: The message names them.
        """
        if 2 * self.chunk_overlap > self.chunk_size:
            raise UsageError(
                f"chunk_overlap {self.chunk_overlap} is more than half of chunk_size {self.chunk_size}. Lower it."
            )
        if not (self.keyword_weight or self.vector_weight):
            raise UsageError("keyword_weight and vector_weight are both 0. Raise one of them.")


SPECS: Mapping[str, OptionSpec] = {item.name: item.metadata["spec"] for item in fields(RetrievalOptions)}
"""What each option may be, by name."""


class OptionError(ValueError):
    """A value means nothing; the message says what it must be, to be put after the option's name."""


def read_option(name: str, value: object) -> object:
    """Return a value from a TOML file as the option has it.

    Raises:
        OptionError: It is none of the values that the option may have.
    """
    spec = SPECS[name]
    if issubclass(spec.kind, StrEnum):
        return _read_choice(spec.kind, value)
    if spec.kind is bool or spec.kind is str:
        wanted = "true or false" if spec.kind is bool else "text in quotation marks"
        if not isinstance(value, spec.kind) or value == "":
            raise OptionError(f"must be {wanted}")
        return value
    is_number = isinstance(value, int) if spec.kind is int else isinstance(value, int | float)
    if (
        not is_number
        or isinstance(value, bool)
        or not spec.low <= cast("float", value) <= spec.high
        or value == math.inf
    ):
        raise OptionError(f"must be {describe_numbers(spec)}")
    return value if spec.kind is int else float(cast("float", value))


def parse_option(name: str, text: str) -> object:
    """Return what stands on the command line as the option has it.

    Raises:
        OptionError: It is none of the values that the option may have.
    """
    kind = SPECS[name].kind
    value: Any = text
    if kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            raise OptionError(f"must be {describe_numbers(SPECS[name])}") from None
    return read_option(name, value)


def describe_numbers(spec: OptionSpec) -> str:
    """Return in words which numbers an option may have."""
    noun = "a whole number" if spec.kind is int else "a number"
    if spec.high == math.inf:
        return f"{noun} of {spec.low:g} or more"
    return f"{noun} from {spec.low:g} to {spec.high:g}"


def _read_choice(kind: type[StrEnum], value: object) -> StrEnum:
    choices = [choice.value for choice in kind]
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"must be one of {', '.join(choices)}")
    return kind(value)
