"""Embedders: texts into vectors, by a provider through litellm in its process or by a model on this machine."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from roamtui.document.plain import plain_line, shorten
from roamtui.errors import ModelError, UsageError
from roamtui.models.background import BackgroundModels
from roamtui.models.choose import check_address
from roamtui.models.jobs import Job, Vectors
from roamtui.models.options import ModelOptions
from roamtui.search.base import Embedder, EmbedKind

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE = "sentence_transformers"
_MARK = "modules.json"
"""A file that every folder of a model has."""
_INSTALL = 'pip install "roamtui[embeddings]"'
LOCAL = "local:"
"""Before the name of a sentence-transformers model."""
EXAMPLES = "ollama/snowflake-arctic-embed2, openai/text-embedding-3-small or local:FOLDER"


class LocalEmbedder:
    """A sentence-transformers model.

    Raises:
        UsageError: sentence-transformers is not installed, or a folder holds no model.
    """

    def __init__(self, model: str) -> None:
        if importlib.util.find_spec(_PACKAGE) is None:
            raise UsageError(f"local embeddings need sentence-transformers. Install it with: {_INSTALL}")
        folder = find_model_folder(model)
        self._model_name = str(folder or model)
        self._name = f"local:{_identify_folder(folder) if folder is not None else model}"
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        """What its vectors are known by; that of a folder changes with what is in it."""
        return self._name

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:
        """Return one row for each text; the first call loads the model, which takes seconds."""
        import numpy as np  # noqa: PLC0415 - an extra

        with self._lock:
            try:
                if self._model is None:
                    self._model = _load_model(self._model_name)
                encode = self._model.encode_query if kind is EmbedKind.QUERY else self._model.encode_document
                rows = encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
            except Exception as error:  # a model's own code may raise anything
                reason = shorten(plain_line(str(error)), 200) or type(error).__name__
                shown = shorten(plain_line(self._model_name), 80)
                raise ModelError(f'The embedder "{shown}" failed: {reason}. Choose another with --embedder.') from error
        matrix: NDArray[np.float32] = np.asarray(rows, dtype=np.float32)
        return matrix


def find_model_folder(model: str) -> Path | None:
    """Return the folder of a model that is named by its path or by the package that carries it, None for another name.

    Raises:
        UsageError: It is the path of a folder without a model.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / _MARK).is_file():
            raise UsageError(f"{plain_line(str(path))} holds no sentence-transformers model (no {_MARK}).")
        return path
    package = model.replace("-", "_")
    if not package.isidentifier() or (spec := importlib.util.find_spec(package)) is None:
        return None
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    found = (mark.parent for place in places for mark in sorted([*place.glob(_MARK), *place.glob(f"*/{_MARK}")]))
    return next(found, None)


def _identify_folder(folder: Path) -> str:
    """Return a name that another model in the same folder would not have."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    size = sum(path.stat().st_size for path in files)
    return f"{folder.resolve()} ({len(files)} files, {size} bytes)"


def _load_model(name: str) -> Any:  # noqa: ANN401 - the package is an extra
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an extra, which takes seconds
    from transformers.utils import logging  # noqa: PLC0415 - likewise

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return SentenceTransformer(name)


def make_embedder(name: str, background: BackgroundModels, *, api_base: str | None = None) -> Embedder:
    """Return the embedder that a person chose; nothing is loaded or asked yet.

    Args:
        name: ``local:`` and a name, package or folder; the path of a folder; else provider and model.
        background: Where requests to providers run.
        api_base: Address of a provider's server, None for its own.

    Raises:
        UsageError: The name makes no sense, or what it needs is not installed.
    """
    is_folder = bool(name) and Path(name).expanduser().is_dir()
    if name.startswith(LOCAL) or is_folder:
        return LocalEmbedder(name.removeprefix(LOCAL))
    if "/" not in name or not name.isprintable() or any(character.isspace() for character in name):
        raise UsageError(f'"{shorten(plain_line(name), 80)}" is no name of an embedder; write {EXAMPLES}.')
    check_address(api_base, "embedder_api_base")
    return LitellmEmbedder(name, background, api_base=api_base)


class LitellmEmbedder:
    """An embedder of any provider that litellm knows. Keys come from the environment alone."""

    def __init__(
        self,
        name: str,
        background: BackgroundModels,
        *,
        api_base: str | None = None,
        options: ModelOptions | None = None,
    ) -> None:
        self._background = background
        self._job = Job(operation="embed", model=name, api_base=api_base, options=options or ModelOptions())

    @property
    def name(self) -> str:
        """What its vectors are known by."""
        return self._job.model

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:  # noqa: ARG002 - litellm has none
        """Return one row for each text; a passing fault is answered by asking again."""
        import numpy as np  # noqa: PLC0415 - an extra

        try:
            vectors = self._background.run(self._background.worker.ask(replace(self._job, texts=tuple(texts)), Vectors))
        except ModelError as error:
            message = str(error).replace("--model", "--embedder").replace("--api-base", "embedder_api_base")
            raise ModelError(message) from None
        return np.array(vectors.decode(), dtype=np.float32)
