"""Characters of fonts that draw signs in place of letters: Symbol and Wingdings."""

_UNKNOWN = "▪"
"""Shown for a sign that is not listed."""
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
"""The code of a sign and the sign."""
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
_PRIVATE = range(0xF000, 0xF100)
"""Characters of such a font in the files of Word and PowerPoint."""


def translate_symbols(text: str, font: str) -> str:
    """Return a text as it looks in a font."""
    signs = _SIGNS_BY_FONT.get(font.lower(), {})
    out: list[str] = []
    for character in text:
        is_private = ord(character) in _PRIVATE
        is_sign = is_private or (bool(signs) and ord(character) <= 0xFF and not character.isspace())
        code = ord(character) - _PRIVATE.start if is_private else ord(character)
        out.append(signs.get(code, _UNKNOWN) if is_sign else character)
    return "".join(out)
