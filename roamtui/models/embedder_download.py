"""Fetch the default embedder from its hub, once, after a person has agreed."""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing

from msgspec import Struct

from roamtui.errors import RoamtuiError, SourceError, StoreError, UsageError, format_reason
from roamtui.models.local_embedder import DEFAULT_MODEL, find_model
from roamtui.paths import make_private_folder, models_path, replace_file
from roamtui.web.fetcher import Fetcher
from roamtui.web.page import FetchOptions
from roamtui.web.urls import AllowedOrigins, origin_of

_SECONDS_MAX = 600.0
"""Longest time for one file. The largest has 23 MB."""
_OFF = (
    f"{DEFAULT_MODEL} cannot be downloaded yet, because its files have not been checked. Name the folder of "
    f"a model with retrieval.meaning, or run `make embeddings` in a clone of roamtui."
)


class PinnedModel(Struct, frozen=True, kw_only=True):
    """The files of a model at its hub, as somebody has seen and checked them."""

    url: str
    """URL of each file, with `{revision}` and `{name}`."""
    allowed: AllowedOrigins
    """Sites that may send the files. A redirect to another site is not followed."""
    revision: str
    digests: Mapping[str, str]
    """SHA-256 of each file in hexadecimal digits, by its name."""


PINNED = PinnedModel(
    url="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/{revision}/{name}",
    allowed=AllowedOrigins(approved=frozenset({"https://huggingface.co", "https://cas-bridge.xethub.hf.co"})),
    # Empty, and so the download is off, until somebody with a network has confirmed revision, names, digests
    # and sites.
    revision="",
    digests={
        "onnx/model_quint8_avx2.onnx": "",
        "tokenizer.json": "",
        "1_Pooling/config.json": "",
        "config_sentence_transformers.json": "",
        "sentence_bert_config.json": "",
    },
)


def install_default_embedder(confirm: Callable[[str], bool], proxy: str, pinned: PinnedModel = PINNED) -> str:
    """Fetch the default embedder, unless it is there, into the folder that the setting `auto` looks for.

    All its files are stored, or none. `confirm` asks the person a question, and `proxy` is the setting
    `web.proxy`. Return a sentence about what was done.

    Raises:
        RoamtuiError: The download is off, or a file could not be fetched, is another one, or could not be
            written.
        UsageError: The person did not agree.
    """
    folder = models_path() / DEFAULT_MODEL
    if find_model(folder) is not None:
        return f"{DEFAULT_MODEL} is already in {folder}."
    if not (pinned.revision and all(pinned.digests.values())):
        raise RoamtuiError(_OFF)
    if not confirm(f"Download {DEFAULT_MODEL} (23 MB) from {origin_of(pinned.url)} to {folder}?"):
        raise UsageError("nothing was downloaded, because you did not confirm. To download it, answer y.")
    files: dict[str, bytes] = {}
    options = FetchOptions(proxy=proxy, total_seconds_max=_SECONDS_MAX)
    with closing(Fetcher(cache_dir=None, options=options)) as fetcher:
        for name, digest in pinned.digests.items():
            url = pinned.url.format(revision=pinned.revision, name=name)
            files[name] = fetcher.fetch(url, pinned.allowed).body
            if hashlib.sha256(files[name]).hexdigest() != digest:
                reason = "has changed since roamtui was released, so nothing was saved"
                raise SourceError(f"{url} {reason}. Update roamtui.")
    unfinished = folder.with_name(f".{folder.name}.{os.urandom(4).hex()}")
    try:
        for name, content in files.items():
            make_private_folder((unfinished / name).parent)
            replace_file(unfinished / name, content, is_flushed=False)
        unfinished.replace(folder)
    except OSError as error:
        reason = format_reason(error)
        raise StoreError(f"{folder} cannot be written: {reason}. Remove it, or free some space.") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return f"{DEFAULT_MODEL} is in {folder}. Searches use it from now on."
