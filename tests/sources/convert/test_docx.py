"""Word documents as Markdown: their styles are the outline, and hostile ones are refused."""

from __future__ import annotations

import pytest

from roamtui.errors import SourceError
from roamtui.sources.convert import zip_package
from roamtui.sources.convert.docx import convert_docx
from tests.sources.convert.outlines import read_outline
from tests.sources.convert.sample_books import WORD, XML, make_docx_parts, pack
from tests.sources.convert.sample_books import write_word_paragraph as write

_TABLE = f"<w:tbl><w:tr><w:tc>{write('A')}</w:tc><w:tc>{write('B|C')}</w:tc></w:tr></w:tbl>"


def test_styles_are_the_outline() -> None:
    body = [write("Bread", "H1"), write("# flour &lt;b&gt;"), write("Rye", "H2"), write("x", "H7"), _TABLE]
    converted = convert_docx(pack(make_docx_parts(body, title="Handbook")), "a.docx")
    assert converted.title == "Handbook"
    assert read_outline(converted.text) == [(1, "Bread"), (2, "Rye"), (6, "x")]
    assert "\\# flour \\<b>" in converted.text
    assert converted.text.endswith("| A | B\\|C |\n")


def test_embedded_images_have_the_names_of_their_parts() -> None:
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    data = f'<v:imagedata xmlns:v="urn:schemas-microsoft-com:vml" xmlns:r="{office}" r:id="{{}}"/>'
    body = [write("Words"), *(f"<w:p><w:r><w:pict>{data.format(part)}</w:pict></w:r></w:p>" for part in "abc")]
    parts = make_docx_parts(body)
    added = f'<Relationship Id="a" Type="{office}/image" Target="media/image 1.png"/>'
    added += f'<Relationship Id="b" Type="{office}/image" Target="media/gone.png"/>'
    added += f'<Relationship Id="c" Type="{office}/image" Target="https://example.org/c.png" TargetMode="External"/>'
    relations = str(parts["word/_rels/document.xml.rels"])
    parts["word/_rels/document.xml.rels"] = relations.replace("</Rel", f"{added}</Rel")
    parts["word/media/image 1.png"] = b"any bytes"
    assert convert_docx(pack(parts), "a.docx").text == "Words\n\n![](word/media/image%201.png)\n"


def test_a_title_is_above_all_headings() -> None:
    body = [write("Handbook", "Title"), write("Bread", "H1"), write("Rye", "H2"), write("Cake", "H1")]
    text = convert_docx(pack(make_docx_parts(body)), "a.docx").text
    assert read_outline(text) == [(1, "Handbook"), (2, "Bread"), (3, "Rye"), (2, "Cake")]


def test_a_style_made_from_a_heading_or_with_an_outline_level_is_a_heading() -> None:
    body = [write("Bread", "Own"), write("Rye", "Deep"), write("Of 1900", "Old"), write("Contents", "Toc")]
    styles = {
        "Own": "<w:name w:val='Chapter'/><w:basedOn w:val='Middle'/>",
        "Middle": "<w:name w:val='Middle'/><w:basedOn w:val='H1'/>",
        "Deep": "<w:name w:val=\"It's &quot;deep&quot; \\\"/><w:pPr><w:outlineLvl w:val='2'/></w:pPr>",
        "Old": "<w:name w:val='Old'/><w:basedOn w:val='Old'/>",
        "Toc": "<w:name w:val='TOC Heading'/><w:basedOn w:val='H1'/><w:pPr><w:outlineLvl w:val='9'/></w:pPr>",
    }
    parts = make_docx_parts(body)
    more = "".join(f'<w:style w:type="paragraph" w:styleId="{name}">{said}</w:style>' for name, said in styles.items())
    parts["word/styles.xml"] = str(parts["word/styles.xml"]).replace("</w:styles>", f"{more}</w:styles>")
    text = convert_docx(pack(parts), "a.docx").text
    assert read_outline(text) == [(1, "Bread"), (3, "Rye")]
    assert text.endswith("Of 1900\n\nContents\n")


def test_merged_cells_leave_the_others_in_their_columns() -> None:
    def cell(text: str, said: str = "") -> str:
        return f"<w:tc><w:tcPr>{said}</w:tcPr>{write(text)}</w:tc>"

    rows = (
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{cell('Year')}{cell('2022', '<w:gridSpan w:val=`2`/>')}</w:tr>",
        f"<w:tr>{cell('Sales', '<w:vMerge w:val=`restart`/>')}{cell('5')}{cell('6')}</w:tr>",
        f"<w:tr>{cell('', '<w:vMerge/>')}{cell('7')}{cell('8')}</w:tr>",
    )
    text = convert_docx(pack(make_docx_parts([f"<w:tbl>{''.join(rows)}</w:tbl>".replace("`", '"')])), "a.docx").text
    assert text == "| Year | 2022 |  |\n| --- | --- | --- |\n| Sales | 5 | 6 |\n|  | 7 | 8 |\n"


def _write_noted(text: str, number: int) -> str:
    return f'<w:p><w:r><w:t>{text}</w:t></w:r><w:r><w:footnoteReference w:id="{number}"/></w:r></w:p>'


def test_footnotes_are_at_the_end_of_the_section_that_refers_to_them() -> None:
    body = [write("Bread", "H1"), _write_noted("Best warm.", 2), write("Rye", "H1"), _write_noted("[[1]](#x)", 3)]
    notes = f'<w:footnote w:id="2">{write("From the oven.")}</w:footnote>'
    notes += f'<w:footnote w:id="3">{write("# Dark.")}{write("And light.")}</w:footnote>'
    text = convert_docx(pack(make_docx_parts(body, footnotes=notes)), "a.docx").text
    assert text == (
        "# Bread\n\nBest warm.[^1]\n\n[^1]: From the oven.\n\n# Rye\n\n[[1]\\](#x)[^2]\n\n[^2]: \\# Dark. And light.\n"
    )


def test_charts_comments_and_macros_are_said_to_be_lost() -> None:
    parts = make_docx_parts([write("Text")])
    parts |= {
        "word/charts/chart1.xml": "<x/>",
        "word/comments.xml": f'<w:x xmlns:w="{WORD}"><w:comment w:id="1"/></w:x>',
    }
    converted = convert_docx(pack({**parts, "word/vbaProject.bin": "Sub Auto_Open()"}), "a.docm")
    assert converted.lost == "1 chart, 1 comment, macros, which are never run"


_LOL = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_SOUND = make_docx_parts([write("text")])


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"x": "y"}, "not a Word document"),
        (make_docx_parts([]), "contains no text"),
        ({**_SOUND, "word/document.xml": XML + _LOL + "<x>&b;</x>"}, "declares XML entities"),
        ({**_SOUND, "word/styles.xml": (XML + _LOL + "<x/>").encode("utf-16")}, "declares XML entities"),
    ],
    ids=["no document", "empty", "entities", "entities in UTF-16"],
)
def test_an_unreadable_file_is_refused(parts: dict[str, str | bytes], reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        convert_docx(pack(parts), "a.docx")


def test_a_document_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_package, "_BYTES_MAX", 8_000)
    with pytest.raises(SourceError, match="too large when unpacked"):
        convert_docx(pack({**_SOUND, **{f"word/{number}.xml": " " * 900 for number in range(9)}}), "a.docx")


def test_a_file_with_a_password_is_refused() -> None:
    with pytest.raises(SourceError, match="password-protected"):
        convert_docx(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.docx")
