"""The constructs that Markdown can contain, each as a text with the words that it shows."""

import json
from dataclasses import dataclass

from tests.real_documents import find_data_dir

LONG = 20_000
"""Length in characters of the longest lines."""


def _number_words(word: str) -> str:
    """Return a long line of a word with growing numbers: an answer that only repeats itself would be stopped."""
    return "".join(f"{word}{number}" for number in range(LONG // (len(word) + 4)))


@dataclass(frozen=True, slots=True)
class Construct:
    """A text, and the words that it shows; None for those of markdown-it-py's rendering."""

    name: str
    text: str
    words: str | None = None


_TABLE = "| Season | Price |\n|:--|--:|\n| Summer | 30 \\| 40 |\n| `a\\|b` | **bold** [c](https://e.org) |\n| d |\n"
OWN_CONSTRUCTS = (
    Construct("table", _TABLE),
    Construct("table without edges", "a | b\n- | -\n1 | 2 | 3\n"),
    Construct("table in a quote in a list", "- > | a | b |\n  > |---|---|\n  > | c | d |\n"),
    Construct("wide table", "|" + " c |" * 30 + "\n|" + "---|" * 30 + "\n|" + " a |" * 30 + "\n"),
    Construct("strikethrough", "This ~~was~~ is ~~*both*~~.\n"),
    Construct("task list", "- [ ] open\n- [x] done\n  1. [X] deeper\n", "open done deeper"),
    Construct("automatic link", "Visit www.example.org or <https://example.org/a_b> now.\n"),
    Construct(
        "footnotes",
        "Pour water.[^1] Then *start*[^note-2].\n\n[^1]: Distilled.\n[^note-2]: Slowly,\n    warm.\n\n    Twice.\n",
        "Pour water 1 Then start note 2 1 Distilled note 2 Slowly warm Twice",
    ),
    Construct("footnote without a note", "Water[^9] and [^1][^2].\n"),
    Construct("footnote in each container", "> a[^1]\n\n- b[^1]\n\n| c[^1] |\n|---|\n| d[^1] |\n\n# e[^1]\n"),
    Construct("formula", "So $E = mc^2$ and \\(a+b\\) hold.\n", "So E mc² and a b hold"),
    Construct("display formula", "$$\n\\frac{a}{b} = c\n$$\n\nafter\n", "a b c after"),
    Construct("formula that no one knows", "$\\unknown{x}{y}$ then $5 and $6.\n", "unknown x y then 5 and 6"),
    Construct("admonition", '!!! warning "Hot *water*"\n    Let it cool.\n\n    - First\n\nafter\n'),
    Construct("admonition without words", "!!! note\n\nafter\n"),
    Construct("folded admonition", "??? tip\n    Hidden words.\n"),
    Construct("container", "::: tip Title\nInside.\n\n:::: note\nDeep.\n::::\n:::\nafter\n"),
    Construct("alert", "> [!WARNING]\n> Hot.\n\n> [!NOTE] Own title\n> Body.\n\n> [!TIP]\n"),
    Construct("tabs", '=== "One"\n    First.\n\n=== "Two"\n    Second.\n'),
    Construct("details", "<details><summary>More <b>c</b></summary>\n\n*Hidden*.\n\n- item\n\n</details>\nafter\n"),
    Construct("details without an end", "<details open>\n\nwords\n"),
    Construct("details in details", "<details><summary>a</summary><details><summary>b</summary>c</details></details>"),
    Construct("HTML table", "<table><tr><th>a<th>b<tr><td rowspan=2>c<td><ul><li>d<li>e</ul><tr><td>f</table>\n"),
    Construct("HTML blocks", "<div align=center>\n<h2>Title</h2><p>One<p>Two<br>3 &amp; &eacute;t&eacute;\n</div>\n"),
    Construct("HTML that hides", "a <script>x = 1</script> b\n\n<style>\np {}\n</style>\n\n<!-- d -->\n", "a b"),
    Construct("HTML code", "<pre><code class='a'>x = 1\n  y</code></pre>\n\n<kbd>k</kbd> <dl><dt>t<dd>d</dl>\n"),
    Construct("HTML that is not closed", "<div><b><i>a\n\n<table><tr><td>b\n\n> <ul><li>c\n"),
    Construct("comment without an end", "words\n\n<!-- never closed", "words"),
    Construct("tags of nobody", "Write <your-name> and <T> and a < b > c.\n", "Write your name and T and a b c"),
    Construct("component", '<Tabs>\n<Tab title="One">\n\nFirst.\n\n</Tab>\n</Tabs>\nafter\n', "First after"),
    Construct("front matter", "---\ntitle: Pump\n---\n\nwords\n", "words"),
    Construct("wikilinks", "See [[Pump#Water|the pump]] and ![[Plan]].\n", "See the pump and Plan"),
    Construct("scripts", "H<sub>2</sub>O and 1<sup>st</sup>\n", "H₂O and 1ˢᵗ"),
    Construct("picture", "![A *plan*](p.png) [![badge](b.svg)](https://e.org) ![](c.png)\n", "A plan badge"),
    Construct("code", "```py\ndef f():\n\treturn `1`\n```\n\n~~~\nno end\n"),
    Construct("fence in a list", "1. one\n   ```\n   code\n   ```\n2. two\n\n   > quote\n"),
    Construct("nested quotes", "> " * 30 + "deep\n"),
    Construct("nested lists", "".join("  " * depth + f"- item{depth}\n" for depth in range(30))),
    Construct("quotes in lists in quotes", "> - > 1. > - a\n> - > b\n>\n> c\n"),
    Construct("numbered list", "7) seven\n8) eight\n\n   more\n\n0. zero\n"),
    Construct("hard breaks", "one  \ntwo\\\nthree<br/>four\n"),
    Construct("wide characters", "每天九欧元。每天九欧元 한국어 คำไทย e\u0301 👩‍👩‍👧\n\n| 每天 | b |\n|---|---|\n"),
    Construct("right to left", "שלום world مرحبا 12\n"),
    Construct("controls", "red \x1b[31m words \x07 \x9b0m \u202etfel\u2066 \x00\r\nb\rc\n", "red words tfel b c"),
    Construct("only space", "\n \n\t\n"),
    Construct("long word", _number_words("x") + "\n"),
    Construct("long line", _number_words(" and word") + "\n"),
    Construct("long heading", "#" + _number_words(" word") + "\n"),
    Construct("long cell", "| a | b |\n|---|---|\n| c |" + _number_words(" word") + " |\n"),
    Construct("long code", "```\nx = " + _number_words("x") + "\n```\n"),
    Construct("long link", "[words](https://example.org/" + _number_words("a") + ")\n"),
    Construct("long formula", "$y" + _number_words(" + x") + "$\n"),
    Construct("long row of marks", "*_`<!$" * (LONG // 6) + "\n"),
    Construct("brackets", "> " + "[" * 500 + "\n"),
)  # fmt: skip


def list_constructs() -> list[Construct]:
    """List our own constructs and the examples of the CommonMark specification, if these are here."""
    path = find_data_dir() / "spec" / "commonmark-spec-tests.json"
    examples = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return [*OWN_CONSTRUCTS, *(Construct(f"example {example['example']}", example["markdown"]) for example in examples)]
