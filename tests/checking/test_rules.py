from __future__ import annotations

import re
from pathlib import Path

import pytest

from roamtui.checking.facts import read_facts
from roamtui.checking.rules import RULES, CheckReport, check, choose_rules
from roamtui.document.source_loader import build_library
from roamtui.library_loader import open_library
from roamtui.sources.read import RawText
from tests.real_documents import PROJECT_DIR

PAGE = (PROJECT_DIR / "docs" / "check.md").read_text("utf-8")
EXAMPLE = re.compile(
    r"^## (?P<code>[A-Z]\d\d) [\w-]+\n(?:(?!^## ).*\n)*?Before:\n\n~~~~markdown\n(?P<before>(?:.*\n)+?)~~~~\n\n"
    r"After:\n\n~~~~markdown\n(?P<after>(?:.*\n)+?)~~~~\n",
    re.MULTILINE,
)
EXAMPLES = {match["code"]: (match["before"], match["after"]) for match in EXAMPLE.finditer(PAGE)}
TIMES = re.compile(r"(?P<what>(?:.+\n)+?)× (?P<count>\d+)\n")
BOTH_TIMES = re.compile(r"(?P<what>#+ .*\n\n(?:.+\n)+?)both × (?P<count>\d+)\n")


def run(text: str, name: str = "guide.md") -> CheckReport:
    return check(read_facts(build_library(RawText(text=text, source=f"/{name}", name=name))))


def write_out(example: str) -> str:
    for pattern in (BOTH_TIMES, TIMES):
        example = pattern.sub(lambda match: f"{match['what']}\n" * int(match["count"]), example)
    return example


def find_codes(text: str, name: str = "guide.md") -> list[str]:
    return [rule.code for rule, _ in run(text, name).findings]


def test_the_docs_and_the_table_have_the_same_rules() -> None:
    assert re.findall(r"^## ([A-Z]\d\d) ([\w-]+)$", PAGE, re.MULTILINE) == [(rule.code, rule.name) for rule in RULES]


@pytest.mark.parametrize("code", EXAMPLES)
def test_each_example_has_a_finding_only_before_the_fix(code: str) -> None:
    name = "llms.txt" if code.startswith("X") else "guide.md"
    before, after = map(write_out, EXAMPLES[code])
    assert code in find_codes(before, name)
    assert code not in find_codes(after, name)


def test_every_rule_that_needs_only_a_text_has_an_example() -> None:
    assert {rule.code for rule in RULES} - EXAMPLES.keys() == {"X02", "X03", "Q01", "Q02"}


@pytest.mark.parametrize(
    "text",
    [
        "# Changes\n\n## 1.2.0\n\nNew.\n\n## 2024-05-01\n\nOld.\n",
        "# API\n\n## id\n\nIts key.\n\n## LLM\n\nA model.\n\n## Steps\n\nTwo.\n",
        "# Law\n\n## Art 49 (repealed)\n\n## Art 50\n\n(repealed)\n",
        '# Loans\n\n<a name="old-name"></a> See [it](#old-name), [site](/guide), [label](some-label), [up](../x.md).\n',
        "# Loans\n\n```\n![](x.png) [gone](#gone)\n```\n",
        '# Loans\n\n<img src="line.png" alt="">\n',
    ],
)
def test_exceptions_from_the_rules(text: str) -> None:
    assert find_codes(text) == []


def test_links_between_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").write_text("# A\n\n[b](sub/b.md) [c](sub/c.md) [b](sub/b) [data](x.csv)\n", "utf-8")
    (tmp_path / "sub" / "b.md").write_text("# B\n\n[a](../a.md#a) [a](../a.md#b)\n", "utf-8")
    report = check(read_facts(open_library((str(tmp_path),))), choose_rules(["L"], []))
    assert [finding.message.rpartition(" ")[2] for _, finding in report.findings] == ["sub/c.md"]


def test_the_score_has_only_parts_that_apply() -> None:
    report = run("# Loans\n\n![](a.png) ![b](b.png)\n\nText.\n")
    assert (report.score, report.parts) == (96, {"structure": 100, "headings": 100, "texts": 83, "links": 100})
    assert run("").score == 100


@pytest.mark.parametrize(("selected", "ignored", "codes"), [(["S01,h", "dead-link"], ["H02"], "S01 H01 L01")])
def test_rules_are_selected_by_code_prefix_and_name(selected: list[str], ignored: list[str], codes: str) -> None:
    assert [rule.code for rule in choose_rules(selected, ignored)] == codes.split()
