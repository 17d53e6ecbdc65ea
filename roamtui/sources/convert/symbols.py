"""Characters of fonts that draw signs in place of letters: Symbol and Wingdings."""

from __future__ import annotations

_UNKNOWN = "▪"
"""What stands for a sign that is not listed."""
_SYMBOL_CODES = (*range(0x20, 0x7F), *range(0xA0, 0xF0), *range(0xF1, 0xFF))
_SYMBOL_SIGNS = (
    " !∀#∃%&∍()*+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}~"
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊"
    "〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_WINGDINGS = (
    "22✂ 28☎ 2A✉ 3F✍ 41✌ 46☞ 4A☺ 4B😐 4C☹ 4D💣 51✈ 52☼ 54❄ 6C● 6E■ 6F□ 70□ 71❑ 72❒ 74◆ 75◆ 76❖ 77◆ 78☒ 9F• A1○ "
    "A4◉ A8☐ AB★ B6✪ D8➢ DF← E0→ E1↑ E2↓ E8➔ EF⇦ F0⇨ F1⇧ F2⇩ F3⇔ FB✗ FC✓ FD☒ FE☑"
)
"""The code of a sign and the sign."""
_WINGDINGS_2 = "4F✗ 50✓ 51☒ 52☑ 53☒ 54☒ A3☐"
_SIGNS_BY_FONT = {
    "symbol": dict(zip(_SYMBOL_CODES, _SYMBOL_SIGNS, strict=True)),
    "wingdings": {int(each[:2], 16): each[2:] for each in _WINGDINGS.split()},
    "wingdings 2": {int(each[:2], 16): each[2:] for each in _WINGDINGS_2.split()},
}
_PRIVATE = range(0xF000, 0xF100)
"""Characters of such a font in the files of Word and PowerPoint."""


def translate_symbols(text: str, font: str) -> str:
    """Return a text as it looks in a font."""
    signs = _SIGNS_BY_FONT.get(font.lower())
    if signs is None and not any(ord(character) in _PRIVATE for character in text):
        return text
    return "".join(_translate_character(character, signs) for character in text)


def _translate_character(character: str, signs: dict[int, str] | None) -> str:
    code = ord(character) - _PRIVATE.start if ord(character) in _PRIVATE else ord(character)
    if signs is None:
        return _UNKNOWN if ord(character) in _PRIVATE else character
    if character.isspace() or code > 0xFF:  # such a font has one byte for a character
        return character
    return signs.get(code, _UNKNOWN)
