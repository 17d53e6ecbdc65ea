"""`roamtui outline` and `roamtui show`, as other programs use them."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import GARDEN, RunCommand


def test_show_keeps_carriage_returns_and_escapes_outside_a_terminal(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "odd.md"
    path.write_bytes(b"# A\r\n\x1b[31mred\x1b[0m\r\n")
    section_id = run("outline", path, "--json").json["sections"][0]["id"]
    assert run("show", path, section_id).out == "# A\r\n\x1b[31mred\x1b[0m\r\n"


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


def test_an_unknown_id_shows_nothing_and_says_what_to_do(run: RunCommand, garden: Path) -> None:
    good = run("outline", garden, "--json").json["sections"][0]["id"]
    result = run("show", garden, good, "00000000")
    assert (result.code, result.out) == (2, "")
    assert result.err == 'roamtui: No section "00000000". Run `roamtui outline SOURCE` for the ids.\n'
    result = run("show", garden, f"{good}:9")
    assert (result.code, result.err) == (2, f'roamtui: Section "{good}" has only 1 page.\n')


@pytest.mark.parametrize("name", ["Watering", "watering", "Plots > Watering", "garden manual › plots › watering"])
def test_a_section_is_shown_by_its_title_or_path(run: RunCommand, garden: Path, name: str) -> None:
    start, end = GARDEN.index("### Watering"), GARDEN.index("### Compost")
    assert run("show", garden, name).out == GARDEN[start:end]


def test_a_name_that_no_single_section_has_brings_the_nearest(run: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "fees.md"
    path.write_text("# Fees\n\nA.\n\n# Books\n\n## Fees\n", "utf-8")
    assert run("show", path, "Books > Fees").out == "## Fees\n"
    several = run("show", path, "fees")
    assert (several.code, several.out) == (2, "")
    nearest = r"\[[0-9a-f]{8}\] Fees, \[[0-9a-f]{8}\] Books > Fees"
    assert re.match(rf'roamtui: more than one section is called "fees". Did you mean {nearest}', several.err)
    unknown = run("show", path, "nonsense")
    assert unknown.err == 'roamtui: no section is called "nonsense". `roamtui outline SOURCE` lists the titles.\n'
