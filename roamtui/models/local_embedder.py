"""An embedder on this machine: a model of sentence-transformers as ONNX, in a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from roamtui.errors import ModelError, UsageError
from roamtui.paths import models_path
from roamtui.plain import sanitise_line, shorten
from roamtui.search.base import VectorArray

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""Name of the folder that ``auto`` looks for."""
PACKAGES = ("onnxruntime", "tokenizers", "numpy")
"""What the extra `meaning` installs."""
_TOKENIZER = "tokenizer.json"
_MODELS = ("model.onnx", "onnx/model_q*.onnx", "onnx/model_*.onnx", "onnx/model.onnx")
"""Files that may hold the model. The first is taken, and of several the first by name."""
_POOLED_OUTPUTS = ("pooled", "sentence_embedding")
"""Outputs of models that join the vectors of their tokens themselves."""
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


def find_model(folder: Path) -> Path | None:
    """Return the file of the model in a folder, or None if the folder has no model with its tokenizer."""
    if not (folder / _TOKENIZER).is_file():
        return None
    return next((path for pattern in _MODELS for path in sorted(folder.glob(pattern))), None)


def find_installed_embedder() -> LocalEmbedder | None:
    """Return the embedder that is installed on this machine, or None if the model or a package is missing."""
    folder = models_path() / DEFAULT_MODEL
    return LocalEmbedder(folder) if has_packages() and find_model(folder) is not None else None


class LocalEmbedder:
    """Runs a model in a folder. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        """Take a model, which is loaded when it is first used.

        Raises:
            UsageError: A package is missing, or the folder does not contain a model that can be read.
        """
        if not has_packages():
            raise UsageError('search by meaning needs packages: pip install "roamtui[meaning]"')
        model = find_model(folder)
        if model is None:
            files = f"{_TOKENIZER} and model.onnx or onnx/model_*.onnx"
            raise UsageError(f"{sanitise_line(str(folder))} has no model. Name a folder with {files}.")
        self.folder = folder
        self._model = model
        self._lock = threading.Lock()
        self._runner: _Runner | None = None

    @cached_property
    def name(self) -> str:
        """Name under which its vectors are stored. It changes with the content of the folder."""
        digest = hashlib.blake2b(digest_size=8)
        for path in (self.folder / _TOKENIZER, self._model):
            digest.update(path.read_bytes())
        return f"local:{digest.hexdigest()}"

    @cached_property
    def is_multilingual(self) -> bool:
        """Whether it knows other languages than English."""
        vocabulary = json.loads((self.folder / _TOKENIZER).read_bytes())["model"]["vocab"]
        return len(vocabulary) > _MULTILINGUAL_VOCABULARY

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> VectorArray:
        """Return a row for each text. The first call loads the model. See `Embedder`."""
        import numpy as np  # noqa: PLC0415 - an extra

        with self._lock:
            try:
                if self._runner is None:
                    self._runner = _Runner(self.folder, self._model)
                batches = (texts[start : start + _BATCH_SIZE] for start in range(0, len(texts), _BATCH_SIZE))
                rows = [self._runner.embed(batch, is_query=is_query) for batch in batches]
            except Exception as error:  # reading a damaged model may raise anything
                reason = shorten(sanitise_line(str(error)), 200) or type(error).__name__
                shown = shorten(sanitise_line(str(self.folder)), 80)
                words = f'The embedder "{shown}" failed: {reason}. Choose another with --embedder.'
                raise ModelError(words) from error
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)


class _Runner:
    """A model that is loaded, with its tokenizer."""

    def __init__(self, folder: Path, model: Path) -> None:
        import onnxruntime  # noqa: PLC0415 - an extra, and takes 0.1 s
        from tokenizers import Tokenizer  # noqa: PLC0415 - the same

        length = _read_config(folder / "sentence_bert_config.json").get("max_seq_length")
        config = _read_config(folder / "config_sentence_transformers.json")
        self._prompts: Mapping[str, str] = config.get("prompts") or {}
        pooling = _read_config(folder / "1_Pooling" / "config.json")
        self._takes_first = bool(pooling.get("pooling_mode_cls_token"))
        """Whether the vector of the first token stands for the text, not the mean of all."""
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.enable_truncation(length or _TOKENS_MAX)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS_MAX, os.cpu_count() or 1)
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = [put.name for put in self._session.get_inputs()]
        self._outputs = [put.name for put in self._session.get_outputs()]

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
        pooled = next((name for name in _POOLED_OUTPUTS if name in self._outputs), None)
        inputs = {name: values[name] for name in self._inputs}
        [result] = self._session.run([pooled or self._outputs[0]], inputs)
        rows: VectorArray = np.asarray(result, dtype=np.float32)
        if pooled is not None:
            return rows
        if self._takes_first:
            return rows[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        means: VectorArray = (rows * weights).sum(axis=1) / weights.sum(axis=1)
        return means


def _read_config(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file, which may be missing."""
    if not path.is_file():
        return {}
    config = json.loads(path.read_bytes())
    return config if isinstance(config, dict) else {}
