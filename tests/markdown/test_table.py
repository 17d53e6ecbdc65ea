from __future__ import annotations

from tests.tui.reader.sections import show

TABLE = "| Region | Remarks |\n|---|---|\n| Niedersachsen | Notwithstanding termination |\n| b | c |\n"


def test_a_wide_table_has_one_rule_and_breaks_no_word() -> None:
    for width in (30, 10):
        lines = show(TABLE, width=width)
        assert sum("─" in line for line in lines) == 1
        assert {"Niedersachsen", "Notwithstanding", "termination"} <= {*" ".join(lines).replace("│", " ").split()}
