"""Documents in other formats that Word shows as a part of its own: web pages, web archives and plain text."""

import re
from email import message_from_bytes
from html import escape

from lxml.etree import tostring

from roamtui.convert.decode import decode_html
from roamtui.convert.html_tree import parse_html_tree
from roamtui.markdown.escaping import WITHOUT_NOTE_SIGNS

_ARCHIVE_HEAD = re.compile(
    rb"\s*(?:[\w-]+:.*\r?\n(?:[ \t].*\r?\n)*)*?(?:MIME-Version|Content-Type):", re.IGNORECASE
)
"""The first lines of a web archive (MHT), which look like those of a mail."""
_UNREADABLE = (b"{\\rtf", b"\xd0\xcf\x11\xe0")
"""The first bytes of RTF and of an old Word document."""
_TAG = re.compile("<[A-Za-z!/]")
_HEAD_LENGTH = 4_096


def convert_chunk(data: bytes) -> str | None:
    """Convert a document to HTML, or return None if its format is not known here.

    Raises:
        SourceError: It is nested more deeply than libxml2 allows.
    """
    if data.startswith(_UNREADABLE):
        return None
    if _ARCHIVE_HEAD.match(data[:_HEAD_LENGTH]):
        pages = [part for part in message_from_bytes(data).walk() if part.get_content_type() == "text/html"]
        content = pages[0].get_payload(decode=True) if pages else None
        if not isinstance(content, bytes):
            return None
        data = content
    text = decode_html(data)[0].translate(WITHOUT_NOTE_SIGNS)
    if not _TAG.search(text):
        return "".join(f"<p>{escape(line)}</p>" for line in text.splitlines())
    body = parse_html_tree(text).find("body")
    if body is None:
        return ""
    body.tag = "div"
    return str(tostring(body, encoding="unicode", method="html"))
