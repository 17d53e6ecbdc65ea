"""Search as a person set it up: the embedder and the model that they chose, and where vectors are kept."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from roamtui.errors import UsageError
from roamtui.locations import cache_path, indexes_path
from roamtui.models.background import BackgroundModels
from roamtui.models.choose import OFFLINE, make_model
from roamtui.models.embedding.choose import EXAMPLES, make_embedder
from roamtui.models.search_help import ModelReranker, ModelRewriter
from roamtui.models.trace import RECORDED
from roamtui.search.base import SearchParts
from roamtui.search.choosing import make_searcher
from roamtui.search.lance.database import Database
from roamtui.search.options import Rerank, SearchMode
from roamtui.search.store.opening import IndexPlace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from roamtui.app_arguments import ModelArguments
    from roamtui.document.library import Library
    from roamtui.models.base import Model
    from roamtui.models.options import ModelOptions
    from roamtui.search.base import Embedder, Progress, Searcher
    from roamtui.search.options import RetrievalOptions
    from roamtui.settings import Settings

ModelChoice = tuple[str, "str | None", "ModelOptions"]
_BEST_COUNT = 10
"""Sections that a model is asked to name where it chooses."""


def prepare_search(
    settings: Settings,
    arguments: ModelArguments,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
    *,
    needs_vectors: bool = False,
) -> Callable[[Library], Searcher | None]:
    """Return what makes the searcher of a library, which gives None where search is off.

    Args:
        settings: The person's.
        arguments: What was said about the model that reranks and rewrites.
        tell: Is told in a sentence what search does without.
        progress: Is told while sections are embedded.
        needs_vectors: Whether a hybrid search fails with its embedder, rather than go on by words alone.

    Raises:
        UsageError: What was chosen is not available; the message says what to choose or to install.
        IndexLostError: The database that was named cannot be used.
    """
    name = arguments.model or settings.model
    model = (name, arguments.api_base or settings.api_base, settings.model_options(name))
    options = settings.retrieval
    if options.index is not None and options.mode is not SearchMode.OFF:
        Database(options.index)  # refused now rather than at the first search
    parts = make_parts(options, model=model, cache=cache_path(), tell=tell, progress=progress)
    place = None if needs_vectors else find_index_place(tell)  # what is only measured leaves no index behind
    return partial(make_searcher, options=options, parts=replace(parts, needs_vectors=needs_vectors), place=place)


def find_index_place(tell: Callable[[str], None] | None = None) -> IndexPlace:
    """Return where indexes of words are kept on this machine.

    Args:
        tell: Is told in a sentence where one cannot be.
    """
    return IndexPlace(folder=indexes_path(), tell=tell or _tell_nobody)


def _tell_nobody(text: str) -> None:
    """Let a sentence pass."""


def make_parts(
    options: RetrievalOptions,
    *,
    model: ModelChoice,
    cache: Path,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> SearchParts:
    """Return what search needs beside a library; nothing is loaded or asked yet.

    Args:
        options: What a person chose.
        model: Name of the model that reranks and rewrites, the address of its server, and how it is asked.
        cache: Folder for vectors.
        tell: Is told in a sentence what search does without.
        progress: Is told while sections are embedded.

    Raises:
        UsageError: What was chosen is not available; the message says what to choose or to install.
    """
    options.check()
    is_model_asked = options.mode is not SearchMode.OFF and (options.rerank is not Rerank.OFF or options.rewrite)
    if not options.needs_vectors and not is_model_asked:
        return SearchParts()
    background = BackgroundModels()
    embedder = _make_embedder(options, background) if options.needs_vectors else None
    judge = _make_judge(options, background, model) if is_model_asked else None
    best_count = _BEST_COUNT if options.rerank is Rerank.CHOOSE else None
    does_rerank = judge is not None and options.rerank is not Rerank.OFF
    return SearchParts(
        embedder=embedder,
        reranker=ModelReranker(judge, background, best_count=best_count) if judge and does_rerank else None,
        rewriter=ModelRewriter(judge, background) if judge and options.rewrite else None,
        cache=cache,
        progress=progress,
        tell=tell,
    )


def _make_embedder(options: RetrievalOptions, background: BackgroundModels) -> Embedder:
    works = f"{SearchMode.OFF} and {SearchMode.KEYWORD} work without"
    if importlib.util.find_spec("numpy") is None:
        install = 'pip install "roamtui[vectors]"'
        raise UsageError(f"search mode {options.mode} needs numpy; {works}. Install it with: {install}")
    if options.embedder is None:
        raise UsageError(
            f"search mode {options.mode} needs an embedder; {works}. Name one with --embedder: {EXAMPLES}."
        )
    return make_embedder(options.embedder, background, api_base=options.embedder_api_base)


def _make_judge(options: RetrievalOptions, background: BackgroundModels, model: ModelChoice) -> Model:
    name, api_base, model_options = model
    if name == OFFLINE or name.startswith(RECORDED):
        flag = "--rerank off" if options.rerank is not Rerank.OFF else "--no-rewrite"
        raise UsageError(f"the model {OFFLINE} can neither rerank nor rewrite. Choose another with --model, or {flag}.")
    return make_model(name, api_base=api_base, options=model_options, worker=background.worker)
