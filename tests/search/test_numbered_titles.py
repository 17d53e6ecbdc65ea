"""The section that a question names by number comes first."""

import pytest

from roamtui.search.searcher import Searcher
from tests.search.libraries import make_library

_LAW = make_library(
    "# Harbour law\n\n"
    "## Article. I.\n\n### Section 1.\n\nBoats pay.\n\n### Section. 2\n\nNobody swims.\n\n"
    "## Article. II.\n\nIt is void.\n\n## Article. III.\n\nIt is void.\n\n"
    "## Article. IV.\n\n### Section 1.\n\nThe bell rings.\n\n## Amendment XIX\n\nWomen vote.\n\n"
    "## Amendment XX\n\nMen vote.\n\n## Pump 3 lifts\n\nIt is green.\n\n"
    "## § 12 Lights\n\nA lamp burns.\n\n## § 13 Flags\n\nRed.\n\n"
    "## Art 104\n\nTowns pay.\n\n## Art 104a\n\nThe state pays.\n\n## 4.1 Oars\n\nAsh.\n\n"
    "## 4.2 Ropes\n\nSee article 1, section 2, § 12, article 104a and amendment 19.\n\n## 4.20 Masts\n\nOak.\n\n"
    "## Minutes 5\n\nNobody came.\n"
)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does article 4 say?", ["Article. IV."]),
        ("Articles IV, please", ["Article. IV."]),
        ("What is section 1 of article IV about?", ["Section 1."]),
        ("Does section 2 forbid it?", ["Section. 2"]),
        ("the 19th amendment", ["Amendment XIX"]),
        ("Who votes by Amendment 19, and who by § 12?", ["Amendment XIX", "§ 12 Lights"]),
        ("Was steht in §12 Satz 1?", ["§ 12 Lights"]),
        ("Was regelt Artikel 104a?", ["Art 104a"]),
        ("What about clause 4.2?", ["4.2 Ropes"]),
        ("Was regeln §§ 12 und 13?", ["§ 12 Lights", "§ 13 Flags"]),
        ("Compare articles 2, 3, and 4", ["Article. II.", "Article. III.", "Article. IV."]),
        ("Articles II-IV", ["Article. II.", "Article. III.", "Article. IV."]),
        ("Articles 1 & 2 to 4", ["Article. I.", "Article. II.", "Article. III.", "Article. IV."]),
        ("the 19th and 20th amendments", ["Amendment XIX", "Amendment XX"]),
        ("Clauses 4.1–4.2", ["4.1 Oars", "4.2 Ropes"]),
        ("What do sections 1 and 2 of article 1 say?", ["Section 1.", "Section. 2"]),
        ("Does § 12 say so, and I pay, within 13 days?", ["§ 12 Lights"]),
        ("Is it article 3 and I go, or article 3-related?", ["Article. III."]),
        ("Section 1 or § 14 or article 105?", []),
        ("How high does pump 3 lift?", []),
        ("Can I pay 12 crowns within 5 minutes and 4.2 seconds?", []),
    ],
)
def test_a_section_is_named_by_a_word_and_a_number_that_its_title_begins_with(question: str, named: list[str]) -> None:
    hits = Searcher(_LAW).search(_LAW, question)
    assert [_LAW.node(hit.section_id).title for hit in hits if hit.is_asked_for] == named
    assert all(hit.is_asked_for and not hit.is_statement for hit in hits[: len(named)])
