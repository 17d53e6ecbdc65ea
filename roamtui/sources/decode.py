"""Decode bytes as text, by byte order mark or as UTF-8, and refuse binary files."""

from __future__ import annotations

import codecs
import re

from roamtui.errors import SourceError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_LENGTH = 65_536
_STRANGE_SHARE_MAX = 0.3
"""Maximum share of undecodable or control characters in a text file."""
_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_WEB_ENCODING = re.compile(
    r"ascii|utf-8|utf-16(?:-[bl]e)?|iso8859-\d+|cp\d+|mac-\w+|koi8-[ru]|tis-620|gb\w+|big5\w*|euc_\w+|shift_jis|iso2022_\w+"
)
"""Encodings that web pages use, by their names in `codecs.lookup`. Others, such as ``idna``, may take hours."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_HTML_HEAD_LENGTH = 4_096
_DECLARED_CHARSET = re.compile(
    rb"""<(?:meta\s[^>]{0,200}?charset|\?xml\s[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]{1,40})""", re.I
)
_FALLBACK_ENCODING = "cp1252"
"""Encoding that browsers assume if a page is not UTF-8 and names no charset."""


def decode_text(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of `data`, and a sentence for each kind of replaced character.

    Raises:
        SourceError: The data is not text.
    """
    mark, encoding = next((entry for entry in _BYTE_ORDER_MARKS if data.startswith(entry[0])), (b"", "utf-8"))
    body, replaced = data.removeprefix(mark), 0
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
        replaced = text.count("\N{REPLACEMENT CHARACTER}")
    sample = text[:_SAMPLE_LENGTH]
    strange = len(_STRANGE.findall(sample))
    if strange > _STRANGE_SHARE_MAX * len(sample):
        raise SourceError(f"{name} does not look like text. Unpack it, or convert it to Markdown or plain text first.")
    notes = []
    if replaced:
        notes.append(
            f"{name}: {replaced} characters are not valid {encoding.upper()} and show as \N{REPLACEMENT CHARACTER}."
        )
    if nulls := text.count("\0"):
        notes.append(f"{name}: {nulls} NUL characters show as \N{SYMBOL FOR NULL}.")
    return text, tuple(notes)


def decode_html(data: bytes, charset: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Decode a page as browsers do, by the charset of its HTTP header, or else the one that it declares.

    Return the text, and a note if characters were replaced.
    """
    mark, encoding = next((entry for entry in _BYTE_ORDER_MARKS if data.startswith(entry[0])), (b"", ""))
    if not mark:
        try:
            return data.decode("utf-8"), ()
        except UnicodeDecodeError:
            declared = _DECLARED_CHARSET.search(data[:_HTML_HEAD_LENGTH])
            label = charset or (declared[1].decode("ascii", "replace") if declared else "")
            charset = normalise_charset(label)
            # Browsers read a page as cp1252 if it declares ASCII or Latin-1, or declares UTF-8 but is not valid UTF-8.
            is_credible = charset not in {None, "utf-8", "ascii", "iso8859-1"} and not str(charset).startswith("utf-16")
            encoding = str(charset) if is_credible else _FALLBACK_ENCODING
    text = data.removeprefix(mark).decode(encoding, "replace")
    replaced = text.count("\N{REPLACEMENT CHARACTER}")
    note = f"{replaced} characters could not be read and show as \N{REPLACEMENT CHARACTER}."
    return text, (note,) if replaced else ()


def normalise_charset(label: str) -> str | None:
    """Return Python's name of the encoding that a charset label names, or None if web pages do not use it."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    return name if _WEB_ENCODING.fullmatch(name) else None


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded as UTF-8."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
