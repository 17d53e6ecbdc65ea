"""Conversations as HTML: a browser only shows the page, whatever a document contains."""

import asyncio
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.document.document import NodeKind
from roamtui.export.html import render_html
from roamtui.opening.loader import make_document_library
from roamtui.sources.read import SourceText
from tests.agent.asking import NO_HITS
from tests.export.answering import LABELS, answer_question
from tests.fakes.chromium import Chromium, find_chromium
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_HOSTILE = """# <img src=x onerror=alert(1)>

See [this](javascript:alert(1)), ![pixel](http://127.0.0.1:9/x.png) and <script>alert(1)</script>.

## \\</script>\\<script>alert(1)\\</script>

The *lamp* is lit at `nine`. <iframe src="http://127.0.0.1:9/"></iframe>
"""


def _make_page(text: str, quote: str | None = None) -> tuple[str, list[str]]:
    """Render a question that opens the first sections and quotes the last one."""
    library = make_document_library(SourceText(text=text, source="x.md", name="x"))
    ids = [one for one in library.walk() if library.text_at(library.node(one).own_span).strip()][:8]
    quote = quote or library.text_at(library.node(ids[-1]).own_span)[:60]
    answer = f'It says "{quote}" [{ids[-1]}]. <script>alert(1)</script> [x](javascript:alert(1))'
    opening = ScriptedReply(calls=(("expand_sections", {"section_ids": ids}),))
    session = Conversation(library)
    replies = [opening, ScriptedReply(text=answer), ScriptedReply(text=answer)]
    agent = Agent(session, ScriptedModel(replies), options=NO_HITS)

    async def ask() -> None:
        await agent.ask(f"What? </script><script>alert(1)</script> {escape(quote)}")

    asyncio.run(ask())
    state = replace(session.state, chosen_title="<b>What?</b>")
    return render_html(state, "x.md"), ids


def _check(page: str) -> html.HtmlElement:
    """Parse a page, and check that it loads nothing and runs only our script."""
    tree = html.document_fromstring(page.encode())
    assert len(tree.xpath("//script")) == 1
    assert not tree.xpath(
        "//img | //iframe | //object | //embed | //link | //base | //form | //svg | //*[@src or @style]"
    )
    assert not [name for element in tree.iter("*") for name in element.attrib if name.startswith("on")]
    assert all(address.startswith(("#", "http://", "https://")) for address in tree.xpath("//@href"))
    assert len(page) < 300_000 + 8 * 60_000
    return tree


def test_a_hostile_document_is_shown_as_text() -> None:
    page, ids = _make_page(_HOSTILE, "The lamp is lit at nine.")
    tree = _check(page)
    assert tree.xpath("//q")[0].text_content() == "The lamp is lit at nine."
    line = tree.get_element_by_id(f"o-{ids[-1]}")
    assert line.xpath(".//summary")[0].text_content() == "</script><script>alert(1)</script>"
    assert line.xpath(".//mark")[0].text_content() == "The *lamp* is lit at `nine"


def test_text_before_the_first_heading_is_shown_whole_under_a_name() -> None:
    text = "The figure is \\label{#eq}\nand the notice period is 60 days.\n"
    library = make_document_library(SourceText(text=f"{text}\n# Fees\n\nTwo euros.\n", source="x.md", name="x"))
    (preamble, *_) = [one for one in library.walk() if library.node(one).kind is NodeKind.PREAMBLE]
    session = Conversation(library)
    agent = Agent(
        session, ScriptedModel([ScriptedReply(text=f'"notice period is 60 days" [{preamble}]')] * 2), options=NO_HITS
    )
    asyncio.run(agent.ask("How long is the notice period?"))
    (details,) = _check(render_html(session.state, "x.md")).xpath("//details")
    assert details.find("summary").text_content() == "(opening text)"
    assert details.find("pre").text_content().strip() == text.strip()


def test_the_page_shows_the_verdicts_and_the_numbers_of_the_screen() -> None:
    state = answer_question()
    tree = _check(render_html(state, "x.md"))
    (step,) = tree.xpath("//ul[@class='steps']/li")
    assert step.text_content() == "Opened 2 sections: Lending, Hours · Already open: 2 sections: Fees, Lost books"
    marks = tree.xpath("//*[@class='answer']//*[contains(@class, 'cite')]")
    assert [mark.text_content() for mark in marks] == LABELS
    quotes = tree.xpath("//*[@class='answer']//*[starts-with(@class, 'quote')]")
    assert [(quote.get("class"), quote.text_content()) for quote in quotes] == [
        ("quote exact", '"2 euros a day"'),
        ("quote not_found", '"9 dollars"'),
        ("quote elsewhere", '"Open daily"'),
        ("quote not_found", '"Books can … for more"'),
    ]
    sources = [source.text_content().split(maxsplit=1)[0] for source in tree.xpath("//ol[@class='sources']/li")]
    assert sources == ["✓", "✗", "!", "✗", "Manual"]
    assert "these words are in Hours, line 20" in tree.xpath("//ol[@class='sources']/li")[2].text_content()
    (sentence,) = tree.xpath("//p[@class='sentence']")
    assert sentence.text_content() == "Late returns cost 2 euros a day."
    assert sentence.xpath(".//b")[0].text == "2 euros a day"
    assert [mark.text_content() for mark in tree.xpath("//details//mark")] == ["2 euros a day", "Open daily"]
    for link in tree.xpath("//main//a[@href]"):
        assert tree.get_element_by_id(link.get("href").removeprefix("#")) is not None


def test_a_source_has_the_name_of_its_document_if_there_are_several(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# Guide\n\n## Fees\n\nIt costs two.\n", "utf-8")
    library = open_library([str(tmp_path)])
    ids = [one for one in library.walk() if library.node(one).title == "Fees"]
    opening = ScriptedReply(calls=(("expand_sections", {"section_ids": ids}),))
    answer = ScriptedReply(text=" ".join(f'"It costs two" [{one}].' for one in ids))
    session = Conversation(library)
    asyncio.run(Agent(session, ScriptedModel([opening, answer]), options=NO_HITS).ask("How much?"))
    sources = _check(render_html(session.state, "x")).xpath("//ol[@class='sources']/li")
    assert [source.text_content().split(" › ")[0] for source in sources] == ["✓ a.md", "✓ b.md"]


def test_hostile_files_are_shown_as_text(data_dir: Path) -> None:
    for path in sorted((data_dir / "adversarial" / "files").glob("*.md"))[::9]:
        _check(_make_page(path.read_text("utf-8", "replace")[:100_000] + "\n\nEnd.\n")[0])


_MARKUP = (
    '"', "*", "**", "`", "~~", "[", "](https://e.org)", "](x)", "[{Fees}]", "2 euros a day", "\n", "\n\n- ", "> ", "| ",
)  # fmt: skip


@given(st.lists(st.sampled_from((*_MARKUP, "a", " ", "<b>", "</td>", "&lt;", "&#27;")), max_size=30).map("".join))
def test_elements_of_an_answer_are_nested(answer: str) -> None:
    state = answer_question(f'{answer} "2 euros *a* day" [{{Fees}}] {answer}')
    page = render_html(state, "x.md")
    article = page[page.index("<article") : page.index("</article>") + len("</article>")]
    assert etree.fromstring(article).get("id") == "q1"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("Chromium is not installed")
    started = Chromium(program, tmp_path / "browser")
    started.call("Page.enable")
    started.call("Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.alerted = true; };")
    yield started
    started.close()


def _run(browser: Chromium, script: str) -> Any:  # noqa: ANN401 - whatever the script returns
    return browser.call("Runtime.evaluate", expression=script)["result"]["value"]


def _open(browser: Chromium, page: str, path: Path) -> None:
    path.write_text(page, "utf-8")
    browser.call("Page.navigate", url=path.as_uri())
    browser.wait_for(lambda message: message.get("method") == "Page.loadEventFired")
    assert _run(browser, "performance.getEntriesByType('resource').length") == 0
    assert _run(browser, "window.alerted === undefined")


@pytest.mark.slow
def test_the_replay_works_in_a_browser(browser: Chromium, tmp_path: Path) -> None:
    _open(browser, _make_page(_HOSTILE, "The lamp is lit at nine.")[0], tmp_path / "page.html")
    hidden = "document.querySelectorAll('.later').length"
    opened = "document.querySelectorAll('nav li.opened').length"
    assert _run(browser, hidden) == 0
    place = "const place = document.getElementById('place'); place.value = 1; place.oninput(); "
    assert _run(browser, place + hidden) != 0
    assert _run(browser, opened) == 0
    assert _run(browser, "place.value = 3; place.oninput(); " + opened)
    assert _run(browser, "place.value = place.max; place.oninput(); " + hidden) == 0
    assert _run(browser, "document.querySelectorAll('details[open]').length") == 0
    _run(browser, "document.querySelector('a.quote').click(), 0")
    assert _run(browser, "document.querySelector('details[open] :target').textContent").startswith("The *lamp*")
