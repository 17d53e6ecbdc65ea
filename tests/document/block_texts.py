"""Random texts: lines of every kind of block in random order, and mutations of the specifications' examples."""

import json
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from hypothesis import strategies as st

from tests.real_documents import find_data_dir

_HEADINGS = (
    "# h", "## h ##", "#", "#x", "###### six", "####### 7", "# `a` b_c *d*", "# `a", "# \xa0", "\\# n", "# [r] x",
    "# [a](/u 't') **b**", "# <b>&amp; \\*", "# ![a](/u) `` x", "# _a_ <http://a.b> #",
)  # fmt: skip
_UNDERLINES = ("===", "=", "---", "-", "--", "--- ", "===\t", "x\n---", "x\ny\n===", "\xa0\n===")
_RULES = ("***", "___", "- - -", "* * *")
_FENCES = ("```", "````", "~~~", "~~~~", "```py", "``` `", "~~~ `", "``` ```")
_CONTAINERS = (
    "> ", "> q", "> # q", ">", "- ", "-", "- x", "* x", "+ x", "1. x", "2. x", "10) x", "1)", "- # x", "> - x",
)  # fmt: skip
_NESTED = ("- ```", "1. ~~~", "- <div>", "- <!--", "- > x", "-    x", "-\tx", "  - x", "> ```", "> <pre>")
_HTML = (
    *("<div>", "</div>", "<!--", "-->", "<!-- c -->", "<?php", "?>", "<!X", ">", "<![CDATA[", "]]>", "<pre>", "</pre>"),
    *("<script>", "</style>", "<span>", "<a href='x'>", "</span> ", "<x", "<b>t</b>", "<!-->"),
)
_TABLES = ("| a |", "|---|", "|a|b|", "--|--", "-|-", ":-:", "a | b", "|a", "a|", "-|")
_DEFINITIONS = ("[r]: /u", "[r]:", "/u", "'t", "t'", '"t"', '[a]: <b> "', "[a", "b]: /x", "> [r]: /u", "[r\\]]: /u")
_REFERENCES = ("[foo]", "# [foo]", "# ![r][] y", "# [x][r]", "# [r\\]]", "# [a b]")
_PROSE = ("", "", "", "a", "text", "Title", "b | c", "x  ", "x\\", "&amp; x", "é", "½", "1", "1.", "10", "*x*", "**x**")
_SPACES = ("\t", "    ", "    code", "\tcode", "\x0b", "\x0c# f", "\u2028# g", "\0# n", "\xa0")
_WIDE = (
    "\u2003x", "*\u2003x", "\u0661. x", "\u3000", "# \u2003 h\u3000", "</\u017fcript>", "\u2003\n---", "<b\u2003x>",
    "``` \u00e9",
)  # fmt: skip
_LINES = (
    *(*_HEADINGS, *_UNDERLINES, *_RULES, *_FENCES, *_CONTAINERS, *_NESTED, *_HTML, *_TABLES, *_DEFINITIONS),
    *(*_REFERENCES, *_PROSE, *_PROSE, *_SPACES, *_WIDE),
)
_FEW_LINES = (
    *("", "a", "# h", "===", "---", "```", "  ```", "- x", "  # h", " ---", "<div>", "<!--", "-->", "  <!--", "  -->"),
    *("> x", "[r]: /u", "a|", "-|", "|a", "   ```", "  x", " x", "    x", "~~~", " ~~~", "<b>", " <b>", "  <div>"),
    *("1. x", "2. x", "-", "  ===", "-   x", "     ```", "x", "<?", "?>"),
    *("# a|b", "  # a|b", "``` a|b", "  ~~~ a|b", "<b>|", "<div>|", "-|-", "--|--", "  -|-"),
)
_INDENTS = (
    "", "", "", "", "", "", " ", "  ", "   ", "    ", "     ", "\t", " \t", "> ", ">", "- ", "  - ", "1. ", "> > ",
)  # fmt: skip
_MARKS = "#`~<>=-|[]: \t\\_*&!x1"


def list_texts(seed: int, count: int) -> Iterator[str]:
    """Yield `count` texts that depend on the seed, and on the specifications' examples if these are available."""
    random = Random(seed)  # noqa: S311 - nothing here is secret
    examples = _read_examples()
    for _ in range(count):
        kind = random.random()
        if kind < 0.3:
            yield _draw_blocks(random)
        elif kind < 0.65:
            yield _draw_few(random)
        else:
            yield _mutate(random, examples) if examples else _draw_blocks(random)


def _draw_blocks(random: Random) -> str:
    length = random.randint(1, random.choice((4, 8, 14, 22)))
    lines = [random.choice(_INDENTS) + random.choice(_LINES) for _ in range(length)]
    return "\n".join(lines) + random.choice(("", "\n"))


def _draw_few(random: Random) -> str:
    """Return a text of few different lines, so that lines that affect each other often meet."""
    lines = ["", *random.sample(_FEW_LINES, random.randint(2, 6))]
    return "\n".join(random.choice(lines) for _ in range(random.randint(3, 12)))


def _mutate(random: Random, examples: tuple[str, ...]) -> str:
    text = random.choice(examples)
    if random.random() < 0.5:
        text += random.choice(("", "\n")) + random.choice(examples)
    lines = text.split("\n")
    for _ in range(random.randint(1, 6)):
        index = random.randrange(len(lines))
        match random.randrange(4):
            case 0:
                lines.insert(index, random.choice(_INDENTS) + random.choice(_LINES))
            case 1 if len(lines) > 1:
                del lines[index]
            case 2 if lines[index]:
                at = random.randrange(len(lines[index]))
                lines[index] = lines[index][:at] + random.choice(_MARKS) + lines[index][at + random.randint(0, 1) :]
            case _:
                lines[index] = random.choice(_INDENTS) + lines[index].lstrip()
    return "\n".join(lines)


@lru_cache(maxsize=1)
def _read_examples() -> tuple[str, ...]:
    folder = find_data_dir() / "spec"
    if not folder.is_dir():
        return ()
    cases = [case for path in sorted(folder.glob("*.json")) for case in json.loads(path.read_text("utf-8"))]
    return tuple(case["markdown"].replace("\r\n", "\n").replace("\r", "\n") for case in cases)


_BLOCKS = (
    *_LINES,
    *("Title\n===", "Title\nof two\n---", "...", "title: x", "> - <?php", "| a | b |\n|---|---|", "1. one", "   - two"),
    *("[ref]: https://example.invalid", "# [ref] and [text](x)", "# `code` and *marks* \\# #", "# nul \0"),
)
_LINE_ENDS = ("\n", "\n", "\n", "\n\n", "\r\n", "\r")


@st.composite
def markdown_texts(draw: st.DrawFn, blocks_max: int = 25) -> str:
    """Blocks of every kind and short random text, joined by every kind of line end."""
    block = st.sampled_from(_BLOCKS) | st.text(max_size=8)
    blocks = draw(st.lists(st.tuples(block, st.sampled_from(_LINE_ENDS)), max_size=blocks_max))
    text = "".join(part for pair in blocks for part in pair)
    return text if draw(st.booleans()) else text.rstrip("\r\n")
