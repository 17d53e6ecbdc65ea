"""The encodings that a page may name: those of the web, and none of the others that Python knows.

Some of those decode in quadratic time (`punycode`), others let half a surrogate pair in (`unicode_escape`, `utf-7`).
"""

from __future__ import annotations

import codecs

_NAMES = frozenset(
    {
        *("ascii", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "mac-roman", "mac-cyrillic", "cp866", "cp874"),
        *(f"iso8859-{part}" for part in (*range(1, 12), *range(13, 17))),
        *(f"cp{page}" for page in range(1250, 1259)),
        *("koi8-r", "koi8-u", "tis-620", "gb2312", "gbk", "gb18030", "big5", "big5hkscs", "cp950"),
        *("euc_jp", "shift_jis", "cp932", "iso2022_jp", "euc_kr", "cp949", "iso2022_kr"),
    }
)
"""As `codecs.lookup` names them."""


def find_charset(label: str) -> str | None:
    """Return Python's name of an encoding that a page names, None where it is none of the web's."""
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return None
    return name if name in _NAMES else None
