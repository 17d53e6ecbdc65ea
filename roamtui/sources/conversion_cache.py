"""Converts files to Markdown, and caches slow conversions on disk.

The key is the digest of the file, with the version of the converters. A damaged cache file is ignored.
"""

import re
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from roamtui.convert.conversion import convert, is_quick
from roamtui.convert.converted import ConvertedText, ProgressCallback, has_tesseract
from roamtui.convert.formats import CONVERTERS_VERSION, PDF, Format
from roamtui.errors import SourceError
from roamtui.file_cache import FileCache

_CACHE_BYTES_MAX = 200_000_000
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\n]*\)")


class ConversionOptions(Struct, frozen=True, kw_only=True):
    """How files are converted."""

    cache_dir: Path | None = None
    """Folder for the texts of slow conversions, or None to store none."""
    ocr_languages: tuple[str, ...] = ("eng",)
    """Languages for OCR, by their names in tesseract."""
    reads_scans: bool = False
    """Whether to run OCR on scanned pages. If not, an earlier OCR result in the cache is still used."""


DEFAULT_OPTIONS = ConversionOptions()


def convert_cached(
    data: bytes,
    name: str,
    source_format: Format,
    *,
    conversion: ConversionOptions = DEFAULT_OPTIONS,
    on_progress: ProgressCallback | None = None,
) -> ConvertedText:
    """Convert a file to Markdown, or load its text from the cache.

    Raises:
        SourceError: The file cannot be converted, or contains no text.
    """
    runs_ocr = conversion.reads_scans and source_format is PDF and has_tesseract()
    languages = conversion.ocr_languages if runs_ocr else ()
    converted: ConvertedText | None = None
    cache: FileCache[ConvertedText] | None = None
    cache_name = ""
    if conversion.cache_dir is not None and not is_quick(source_format, data):
        digest = blake2b(data, digest_size=16, key=source_format.name.encode())
        digest.update(str(CONVERTERS_VERSION).encode())
        stem = digest.hexdigest()
        cache = FileCache(conversion.cache_dir, ConvertedText, _CACHE_BYTES_MAX)
        cache_name = f"{stem}.{'+'.join(languages).replace('/', '-')}"
        names = sorted((path.name for path in cache.folder.glob(f"{stem}.*")), reverse=True)
        converted = next(filter(None, map(cache.load, [cache_name] if languages else names)), None)
    if converted is None:
        converted = convert(data, name, source_format, ocr_languages=languages, on_progress=on_progress)
        if cache is not None:
            cache.save(cache_name, converted)
    if not any(map(str.isalnum, _IMAGE.sub("", converted.text))):
        advice = "If you can see text in it, run OCR on it, or save its text as a file."
        raise SourceError(f"{name} contains no text. {advice}")
    return converted
