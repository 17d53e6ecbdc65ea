"""`roamtui outline` and `roamtui show`, as other programs use them."""

import re
from pathlib import Path

from tests.cli.conftest import RunCommand


def test_every_id_of_an_outline_can_be_shown(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "wide.md"
    path.write_text("".join(f"# Heading {number}\n\nText.\n\n" for number in range(3_000)), "utf-8")
    ranges = re.findall(r"\[([0-9a-f]{8}:c\d+)\]", run("outline", path).out)
    assert len(ranges) > 1
    assert run("show", path, *ranges).out == path.read_text("utf-8")
    root_id = ranges[0].partition(":")[0]
    assert run("show", path, root_id).out == path.read_text("utf-8")
    unknown = run("show", path, ranges[0], f"{root_id}:c{len(ranges) + 1}")
    assert (unknown.code, unknown.out) == (2, "")
