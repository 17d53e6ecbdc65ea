r"""Convert TeX formulas to one line of text, such as `x^2 \le \frac{1}{2}` to `x² ≤ 1/2`."""

import re
import unicodedata

FORMULA = re.compile(
    r"\$\$(?P<display>(?:[^$\\]|\\.){1,2000}?)\$\$"
    r"|(?<![\w$\\])\$(?![\s$])(?P<inline>(?:[^$\\\n`\"'\ue000-\uf8ff]|\\.){1,500}?)(?<!\s)\$(?![\w$])"
    r"|\\\((?P<round>[^\n`]{1,500}?)\\\)|\\\[(?P<square>[^`]{1,2000}?)\\\]",
    re.DOTALL,
)
"""A formula between dollars or between brackets with backslashes. Prices and variable names may match too."""
_WORDS = r"[\s\S]*[^\W\d_]{2}\s+[^\W\d_]"
_SCRIPT = r"[\s\S]*\w(?:\^|(?<![^\W\d_]{2})_|_(?![^\W\d_]{2}))[\w{]"
"""A raised or lowered sign. An underscore between words, as in `item_count`, does not match."""
_IN_BRACKETS = re.compile(rf"\\[A-Za-z]|\A(?!{_WORDS}){_SCRIPT}")
"""Signs of a formula. Without one, the brackets may be escaped brackets around words or names."""
_IS_FORMULA = {
    "display": re.compile(r"\\[A-Za-z]|[\^_=]"),
    "inline": re.compile(r"\\[A-Za-z]|[\^_]"),
    "round": _IN_BRACKETS,
    "square": _IN_BRACKETS,
}
"""What a match with these delimiters must contain to be a formula."""


def get_formula(match: re.Match[str]) -> str:
    """Return the formula in a match of `FORMULA`, or an empty string if the match is not a formula."""
    name = match.lastgroup or ""
    return match[name].strip() if _IS_FORMULA[name].search(match[name]) else ""


_SUPERSCRIPTS = dict(
    zip(
        "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ'′",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ′′",
        strict=True,
    )
)
_SUBSCRIPTS = dict(
    zip("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True)
)
SCRIPT_SIGNS = {"sup": "^", "sub": "_"}
"""The plain-text sign of superscripts and of subscripts, by their element."""


def to_script_characters(text: str, sign: str) -> str | None:
    """Return a text in superscript (`^`) or subscript (`_`) characters, or None if Unicode lacks one."""
    forms = _SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS
    is_known = bool(text) and forms.keys() >= set(text)
    return "".join(map(forms.__getitem__, text)) if is_known else None


def write_plain_script(text: str, name: str) -> str:
    """Write the text of a `sup` or `sub` so that a raised figure never joins the number before it."""
    sign = SCRIPT_SIGNS[name]
    if characters := to_script_characters(text, sign):
        return characters
    if text.isalnum():
        return sign + text
    return f"{sign}({text})" if any(map(str.isdigit, text)) else text


_SYMBOL_TABLE = """
times=× cdot=· div=÷ pm=± mp=∓ ast=∗ star=⋆ circ=∘ bullet=• oplus=⊕ otimes=⊗ odot=⊙ wedge=∧ land=∧ vee=∨ lor=∨
neg=¬ lnot=¬ le=≤ leq=≤ ge=≥ geq=≥ ne=≠ neq=≠ ll=≪ gg=≫ approx=≈ sim=∼ simeq=≃ cong=≅ equiv=≡ propto=∝ in=∈
notin=∉ ni=∋ subset=⊂ subseteq=⊆ supset=⊃ supseteq=⊇ cup=∪ cap=∩ setminus=∖ emptyset=∅ varnothing=∅ forall=∀
exists=∃ to=→ rightarrow=→ leftarrow=← gets=← Rightarrow=⇒ Leftarrow=⇐ implies=⇒ iff=⇔ Leftrightarrow=⇔
leftrightarrow=↔ mapsto=↦ longrightarrow=⟶ uparrow=↑ downarrow=↓ infty=∞ sum=∑ prod=∏ int=∫ oint=∮ partial=∂
nabla=∇ ldots=… dots=… cdots=⋯ vdots=⋮ prime=′ ell=ℓ hbar=ℏ Re=ℜ Im=ℑ aleph=ℵ degree=° langle=⟨ rangle=⟩
lbrack=[ rbrack=] lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉ mid=| vert=| lvert=| rvert=| Vert=‖ lVert=‖ rVert=‖
parallel=∥ perp=⊥ top=⊤ bot=⊥ vdash=⊢ models=⊨ angle=∠ triangle=△ square=□ checkmark=✓ alpha=α beta=β gamma=γ
delta=δ epsilon=ϵ varepsilon=ε zeta=ζ eta=η theta=θ vartheta=ϑ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ pi=π
rho=ρ sigma=σ tau=τ upsilon=υ phi=ϕ varphi=φ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π
Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω
"""
_SYMBOLS = dict(pair.split("=", 1) for pair in _SYMBOL_TABLE.split())
_FUNCTION = re.compile(
    "arg|arccos|arcsin|arctan|argmax|argmin|bmod|cosh?|cot|det|dim|exp|gcd|inf|ker|lg|lim|ln|log|max|min|mod|Pr|sinh?|"
    "sup|tanh?"
)
_FONT = re.compile("text(bf|it|tt|rm)?|math(rm|bf|it|sf|tt|cal)|boldsymbol|bm|operatorname|mbox")
"""Commands that only change the font of their argument."""
_SIZE = re.compile("left|right|[bB]igg?[lr]?|displaystyle|textstyle|(no)?limits")
"""Commands that only change sizes."""
_SPACES = frozenset({",", ";", ":", " ", "quad", "qquad", "thinspace"})
_ESCAPES = dict.fromkeys("{}%$#&_[]") | {"|": "‖", "!": "", "*": "∗"}
"""The meaning of escaped characters. None means the character itself."""
_ACCENTS = {
    "hat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0304",
    "tilde": "\u0303",
    "vec": "\u20d7",
    "dot": "\u0307",
}
_DOUBLE_STRUCK = dict(zip("CEHNPQRZ1", "ℂ𝔼ℍℕℙℚℝℤ𝟙", strict=True))
_PIECE = re.compile(r"\\(?:[A-Za-z]+|.)|[A-Za-z]{2,}(?:_[A-Za-z]{2,})+|\d+(?:[.,]\d+)*|\s+|.", re.DOTALL)
"""A command, an identifier with underscores, a number, white space, or any other character."""
_SIGN = rf"(?:\d+(?:[.,]\d+)*|[^\W\d_]|∞)[{''.join(_SUBSCRIPTS.values())}]*"
"""A number or a letter with what is below it."""
_ENCLOSED = r"\([^()]*\)|\|[^|]*\|"
_BASE = re.compile(rf"{_SIGN}|{_ENCLOSED}")
_ROOT_PART = re.compile(rf"√*(?:{_BASE.pattern})")
_FACTOR = re.compile(rf"√*(?:{_SIGN}[{''.join(_SUPERSCRIPTS.values())}]*(?:_\w+)?|{_ENCLOSED})")
_PRODUCT = re.compile(rf"[\w.∞ℓ′°√]+|{_ENCLOSED}")
_NAME = re.compile(rf"\{{?(?:\\(?:{_FONT.pattern})\{{\w+\}}|[A-Za-z]{{2,}}(?:_[A-Za-z]{{2,}})+)\}}?")
"""The source of a factor that is a word."""
_NUMBERS = re.compile(r"\d+/\d+")
_FRACTION_START, _FRACTION_END = "\ue0f0", "\ue0f1"
_BEFORE_FRACTION = ("", *"+−±=<>≤≥≠≈≡∼∝∈→⇒,;:([{⟨×·")
_AFTER_FRACTION = ("", *"+−±=<>≤≥≠≈≡∼∝∈→⇒,;:.)]}⟩×·")
"""Next to these characters, a fraction needs no brackets, because they bind no more strongly than it does."""
_DEPTH_MAX = 30


def convert_formula(tex: str) -> str | None:
    """Return a formula as one line of text with the same meaning, or None if it contains anything unknown."""
    try:
        return finish_formula(_Converter(tex).convert(""))
    except ValueError:
        return None


def convert_match(match: re.Match[str]) -> str | None:
    """Convert the formula in a match of `FORMULA`. Return None if it is none or contains anything unknown."""
    text = convert_formula(formula) if (formula := get_formula(match)) else None
    before = match.string[max(0, match.start() - 1) : match.start()]
    return text and set_apart(text, before, match.string[match.end() : match.end() + 1])


def set_apart(formula: str, before: str, after: str) -> str:
    """Add spaces to a formula where its figures would join those `before` or `after` it, as in `2 1/2`."""
    start = " " if before[-1:].isdecimal() and formula[:1].isdecimal() else ""
    end = " " if formula[-1:].isdecimal() and after[:1].isdecimal() else ""
    return f"{start}{formula}{end}"


def write_fraction(above: str, below: str, *, is_name: bool = False) -> str:
    """Write a fraction. It may be below a name, which is one factor."""
    below = below if is_name else _bracket(below, _FACTOR)
    return f"{_FRACTION_START}{_bracket(above, _PRODUCT)}/{below}{_FRACTION_END}"


def write_root(text: str, degree: str = "") -> str:
    """Write a root. A space keeps its degree from being an exponent of what is before it."""
    return f"{degree and ' '}{write_script('^', degree)}√{_bracket(text, _ROOT_PART)}"


def write_script(sign: str, text: str, *, is_apart: bool = False) -> str:
    """Write what is raised (`^`) or lowered (`_`). A word stays bare if no letter follows it."""
    if not text:
        return ""
    if characters := to_script_characters(text.replace(" ", ""), sign):
        return characters
    is_word = is_apart and text.isalnum() and (sign == "_" or len(text) == 1)
    is_sign = len(text) == 1 and not text.isalnum()
    return f"{sign}{text}" if is_word or is_sign else f"{sign}({text})"


def bracket_base(text: str) -> str:
    """Put a text with a raised or lowered sign into brackets, unless it is one sign or word, or empty."""
    return text if text.isalpha() or len(text) < 2 else _bracket(text, _BASE)


def finish_formula(text: str) -> str:
    """Decide which fractions of a formula need brackets, and remove spaces that say nothing."""
    return re.sub(r"(?<=[(\[]) | (?=[)\]])", "", " ".join(_bracket_fractions(text).split()))


def _bracket_fractions(text: str) -> str:
    """Put a fraction into brackets if a factor or power next to it would be read as a part of it.

    A number and a fraction of numbers are a mixed number, such as "2 1/2".
    """
    while (end := text.find(_FRACTION_END)) > (start := text.rfind(_FRACTION_START, 0, max(0, end))) >= 0:
        before = text[:start]
        inner = text[start + 1 : end]
        after = text[end + 1 :]
        last, first = before.rstrip()[-1:], after.lstrip()[:1]
        is_apart = last in _BEFORE_FRACTION and first in _AFTER_FRACTION
        if last.isdigit() and _NUMBERS.fullmatch(inner):
            inner = f" {inner}" if first in _AFTER_FRACTION else f" {inner} "
        elif not is_apart:
            inner = f"({inner})"
        text = before + inner + after
    return text


class _Converter:
    """Converts one formula. Raises `ValueError` for anything unknown."""

    def __init__(self, tex: str) -> None:
        self._pieces: list[str] = _PIECE.findall(tex)
        self._position = 0
        self._depth = 0

    def convert(self, end: str) -> str:
        """Convert up to the closing piece `end`, and skip that. If `end` is empty, convert all the rest."""
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise ValueError
        parts: list[str] = []
        is_group = False
        while self._position < len(self._pieces):
            piece = self._pieces[self._position]
            self._position += 1
            if piece == end:
                self._depth -= 1
                return "".join(parts)
            if piece in ("^", "_"):
                if parts and (is_group or _FRACTION_END in parts[-1] or parts[-1].startswith("√")):
                    parts[-1] = _bracket(parts[-1], _BASE)
                parts.append(self._convert_script(piece))
            else:
                parts.append(self._convert_piece(piece))
            is_group = piece == "{"
        if end:
            raise ValueError
        return "".join(parts)

    def _convert_script(self, sign: str) -> str:
        if self._next.isdecimal():  # TeX reads `x^10` as `x^1 0`, but nobody means that
            self._pieces[self._position : self._position + 1] = ["{", self._next, "}"]
        text = self._convert_argument()
        return write_script(sign, text, is_apart=not self._next[:1].isalnum())

    def _convert_argument(self) -> str:
        while self._position < len(self._pieces) and self._pieces[self._position].isspace():
            self._position += 1
        if self._position >= len(self._pieces):
            raise ValueError
        piece = self._pieces[self._position]
        if piece.isdecimal() and len(piece) > 1:  # without braces, an argument is one digit
            self._pieces[self._position] = piece[1:]
            return piece[0]
        self._position += 1
        return self._convert_piece(piece)

    @property
    def _next(self) -> str:
        return self._pieces[self._position] if self._position < len(self._pieces) else ""

    def _convert_piece(self, piece: str) -> str:
        if piece == "{":
            return self.convert("}")
        if piece in ("}", "&", "^", "_"):
            raise ValueError
        if not piece.startswith("\\"):
            return " " if piece.isspace() else {"-": "−", "'": "′", "*": "∗", "~": " "}.get(piece, piece)
        return self._convert_command(piece[1:])

    def _convert_command(self, name: str) -> str:  # noqa: PLR0911 - one for each kind
        if name in _SYMBOLS or name in _SPACES:
            return _SYMBOLS.get(name, " ")
        if _FUNCTION.fullmatch(name):
            if self._next == "{":
                return f"{name}({self._convert_argument()})"
            return f"{name} " if self._next[:1].isalnum() else name
        if _SIZE.fullmatch(name):
            if self._next == ".":  # a missing bracket
                self._position += 1
            return ""
        if _FONT.fullmatch(name):
            return self._convert_argument()
        if name in ("frac", "dfrac", "tfrac"):
            above = self._convert_argument()
            start = self._position
            below = self._convert_argument()
            source = "".join(self._pieces[start : self._position])
            return write_fraction(above, below, is_name=_NAME.fullmatch(source) is not None)
        if name == "sqrt" and self._next != "[":
            return write_root(self._convert_argument())
        if name in _ACCENTS and len(letter := self._convert_argument()) == 1:
            return unicodedata.normalize("NFC", letter + _ACCENTS[name])
        if name == "mathbb" and (letter := self._convert_argument()) in _DOUBLE_STRUCK:
            return _DOUBLE_STRUCK[letter]
        if name in _ESCAPES:
            escaped = _ESCAPES[name]
            return name if escaped is None else escaped
        raise ValueError


def _bracket(text: str, whole: re.Pattern[str]) -> str:
    """Put a text into brackets, unless all of it matches `whole`."""
    return text if whole.fullmatch(text) else f"({text})"
