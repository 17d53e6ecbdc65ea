"""Decodes bytes as text, and refuses binary files.

A byte order mark names the encoding. Without one, a text that is valid UTF-8 is read as UTF-8, unless it has
the escapes of a declared encoding. Any other text has the encoding that its page or server declares, or else
one that is detected from the bytes.
"""

import codecs
import re

from roamtui.errors import SourceError
from roamtui.text import format_count

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_LENGTH = 65_536
_ASCII = bytes(range(128))
_STRANGE_SHARE_MAX = 0.3
"""Maximum share of undecodable or control characters in a text file."""
_STRANGE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_WEB_ENCODING = re.compile(
    r"iso8859-\d+|cp\d+|mac-\w+|koi8-[ru]|tis-620|gb\w+|big5\w*|euc_\w+|shift_jis|iso2022_\w+"
)
"""Encodings of web pages, by their names in `codecs.lookup`, but those of Unicode, which are detected.
Decoding any other may take hours."""
_EMBEDDED_FILE = re.compile(r"(\bdata:[\w.+-]{1,60}/[\w.+-]{1,60};base64,)[A-Za-z0-9+/=]{64,}")
"""A picture or another file that a text contains as base64, which no person and no model reads."""
_HTML_HEAD_LENGTH = 4_096
_DECLARED_CHARSET = re.compile(
    rb"""<(?:meta\s[^>]{0,200}?charset|\?xml\s[^>]{0,100}?encoding)\s*=\s*["']?([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_FALLBACK_ENCODING = "cp1252"
"""Encoding that browsers assume if a page is not UTF-8 and its charset is unknown."""

_NAMES_BY_LEGACY_ENCODING = {
    "cp1252": "Western European text (cp1252)",
    "cp932": "Japanese text (Shift-JIS)",
    "euc_jp": "Japanese text (EUC-JP)",
    "gbk": "Chinese text (GBK)",
    "big5": "Chinese text (Big5)",
    "cp949": "Korean text (EUC-KR)",  # after those, because most of their texts are valid in it
    "cp1251": "Cyrillic text (cp1251)",
    "koi8_r": "Cyrillic text (KOI8-R)",
    "cp1253": "Greek text (cp1253)",
    "cp1254": "Turkish text (cp1254)",
    "cp1255": "Hebrew text (cp1255)",
    "cp1256": "Arabic text (cp1256)",
    "cp1250": "Central European text (cp1250)",
}
"""Encodings that are detected. If two fit a text equally well, the first is assumed."""
_SOUND_MIN = 4
"""Damaged UTF-8 has at least this many sound characters for each damaged one. Text in GBK has about one."""


def decode_text(data: bytes, name: str, charset: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Return the text of `data`, and notes on an assumed encoding and on kinds of replaced characters.

    `charset` is the one in the HTTP header, or None. Files that the text contains as base64 are left out;
    their lines stay.

    Raises:
        SourceError: The data is not text.
    """
    data, encoding, assumed = _find_encoding(data, charset or "")
    encoding = encoding or "utf-8"
    notes = []
    if assumed:
        notes.append(f"read as {assumed}, because it is not UTF-8. If words look wrong, save it as UTF-8.")
    text, replaced = _decode(data, encoding)
    sample = text[:_SAMPLE_LENGTH]
    strange = len(_STRANGE.findall(sample))
    if strange > _STRANGE_SHARE_MAX * len(sample) or text.startswith((r"{\rtf", "PK\x03\x04")):
        raise SourceError(f"{name} does not look like text. Unpack it, or convert it to text first.")
    if replaced:
        notes.append(
            f"{format_count(replaced, 'character')} replaced with \N{REPLACEMENT CHARACTER}, because "
            f"this is not valid {encoding.upper()}."
        )
    if ";base64," in text:
        text, left_out = _EMBEDDED_FILE.subn(r"\1…", text)
        if left_out:
            notes.append(f"{format_count(left_out, 'embedded file')} left out of the text.")
    if nulls := text.count("\0"):
        notes.append(f"{format_count(nulls, 'NUL character')} shown as \N{SYMBOL FOR NULL}.")
    return text, tuple(notes)


def _decode(data: bytes, encoding: str) -> tuple[str, int]:
    """Return a text, and how many of its characters had to be replaced."""
    try:
        return data.decode(encoding), 0
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        return text, text.count("\N{REPLACEMENT CHARACTER}")


def _detect_utf_16(data: bytes) -> str | None:
    sample = data[:_SAMPLE_LENGTH]
    # In UTF-16, one of the two bytes of a Latin letter, a space and most signs is NUL.
    for encoding, low, high in (
        ("utf-16-le", sample[::2], sample[1::2]),
        ("utf-16-be", sample[1::2], sample[::2]),
    ):
        if 2 * high.count(0) > len(high) and 0 not in low:
            return encoding
    return None


def _find_encoding(data: bytes, label: str) -> tuple[bytes, str, str]:
    """Return the data without a byte order mark, its encoding, and the encoding's name if it is assumed.

    `label` is the charset that the data is said to have. Without a mark, valid UTF-8 is UTF-8, whatever the
    label says, unless it has the escapes of that charset. The encoding is empty if it is unknown.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.removeprefix(mark), encoding, ""
    if utf_16 := _detect_utf_16(data):
        return data, utf_16, "UTF-16"
    text, replaced = _decode(data, "utf-8")
    declared = _resolve_charset(label)
    has_escapes = declared is not None and declared.startswith("iso2022_") and b"\x1b" in data
    if not replaced and not has_escapes:
        return data, "utf-8", ""
    if declared:
        return data, declared, ""
    sound = sum(not character.isascii() for character in text) - replaced
    if sound >= _SOUND_MIN * replaced or b"\0" in data:
        return data, "utf-8", ""
    legacy = _detect_legacy_encoding(data)
    return data, legacy or "", _NAMES_BY_LEGACY_ENCODING.get(legacy or "", "")


def _detect_legacy_encoding(data: bytes) -> str | None:
    from charset_normalizer import from_bytes  # noqa: PLC0415 - rarely needed, and takes 30 ms to import

    first = len(data) - len(data.lstrip(_ASCII))
    lines = data[max(0, first - 1_000) :].splitlines()  # a whole file may be one line
    sample = b"\n".join(line for line in lines if not line.isascii())
    if len(sample) > _SAMPLE_LENGTH:  # without a part of a line, which may end inside a character
        sample = sample[:_SAMPLE_LENGTH].rpartition(b"\n")[0] or sample.partition(b"\n")[0]
    order = [*_NAMES_BY_LEGACY_ENCODING]
    ranked = [
        (round(match.chaos, 2), -match.coherence, order.index(encoding))
        for match in from_bytes(sample, cp_isolation=order, enable_fallback=False)
        if not _STRANGE.search(str(match))
        for encoding in match.could_be_from_charset
    ]
    return order[min(ranked)[-1]] if ranked else None


def decode_html(data: bytes, charset: str | None = None) -> tuple[str, tuple[str, ...]]:
    """Decode a page. Return its text, and a note if characters were replaced.

    `charset` is the one in the HTTP header, or None.
    """
    declared = _DECLARED_CHARSET.search(data[:_HTML_HEAD_LENGTH])
    label = charset or (declared[1].decode("ascii", "replace") if declared else "")
    data, encoding, _ = _find_encoding(data, label)
    text, replaced = _decode(data, encoding or _FALLBACK_ENCODING)
    note = f"{format_count(replaced, 'unreadable character')} replaced with \N{REPLACEMENT CHARACTER}."
    return text, (note,) if replaced else ()


def _resolve_charset(label: str) -> str | None:
    """Return the encoding that a charset label means for text that is not UTF-8, or None if it means none."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    if name in {"ascii", "iso8859-1"}:  # as browsers do
        return _FALLBACK_ENCODING
    return name if _WEB_ENCODING.fullmatch(name) else None


def replace_surrogates(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates, which cannot be encoded as UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
