"""Translates text in fonts that draw signs in place of letters, such as Wingdings."""

import re

_UNKNOWN_SIGN = "▪"
"""Shown for a sign of a font that is not listed below."""
_LETTER = re.compile(r"[^\s\u0100-\U0010ffff]")
_SYMBOL_CODES = (*range(0x20, 0x7F), *range(0xA0, 0xF0), *range(0xF1, 0xFF))
_SYMBOL_SIGNS = (
    " !∀#∃%&∍()*+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}~"
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊"
    "〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_WINGDINGS = (
    "28☎ 2A✉ 46☞ 4A☺ 4C☹ 6C● 6E■ 6F□ 70□ 71❑ 72❒ 74◆ 75◆ 76❖ 77◆ 78☒ 9F• A1○ A8☐ AB★ D8➢ DF← E0→ E1↑ E2↓ E8➔ "
    "F0⇨ FB✗ FC✓ FD☒ FE☑"
)
"""Each entry is the hexadecimal code of a character, and the sign that the font draws for it."""
_WINGDINGS_2 = "4F✗ 50✓ 51☒ 52☑ 53☒ 54☒ A3☐"
_CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"
_SIGNS_BY_FONT = {
    "symbol": dict(zip(_SYMBOL_CODES, _SYMBOL_SIGNS, strict=True)),
    "wingdings": {
        **dict(enumerate(_CIRCLED, start=0x80)),
        **{int(each[:2], 16): each[2:] for each in _WINGDINGS.split()},
    },
    "wingdings 2": {
        **dict(enumerate(_CIRCLED, start=0x69)),
        **{int(each[:2], 16): each[2:] for each in _WINGDINGS_2.split()},
    },
}
SYMBOL_FONT = re.compile("|".join(sorted(_SIGNS_BY_FONT, reverse=True)), re.IGNORECASE)
_PRIVATE = re.compile("[\uf000-\uf0ff]")
"""Office programs may write the characters of such a font in this range."""


def translate_symbols(text: str, font: str, private_font: str = "") -> str:
    """Return a text as it looks in a font, which may draw signs in place of letters.

    In a presentation, private characters may have a font of their own.
    """
    letters = _SIGNS_BY_FONT.get(font.lower())
    if _PRIVATE.search(text):
        signs = _SIGNS_BY_FONT.get((private_font or font).lower(), {})
        text = _PRIVATE.sub(lambda sign: signs.get(ord(sign[0]) & 0xFF, _UNKNOWN_SIGN), text)
    if letters is None:
        return text
    return _LETTER.sub(lambda letter: letters.get(ord(letter[0]), _UNKNOWN_SIGN), text)
