"""Read a page as a tree, without navigation, hidden elements and permalinks.

libxml2 repairs the tags, so the tree is sound even if the page is broken. Its depth is limited.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from lxml.etree import ErrorTypes, HTMLParser, fromstring, iterwalk, strip_elements, strip_tags

from roamtui.convert.decode import replace_surrogates
from roamtui.convert.html_elements import (
    ATTRIBUTE_LENGTH_MAX,
    BLOCKS,
    HEADINGS,
    MARKS_BY_NAME,
    make_absolute_href,
)
from roamtui.convert.html_panels import CONTROLS, is_panel, label_panels, list_controlled_ids
from roamtui.convert.html_titles import promote_titles
from roamtui.convert.office_math import write_formula
from roamtui.convert.symbol_fonts import SYMBOL_FONT, translate_symbols
from roamtui.convert.xml_elements import join_text
from roamtui.errors import SourceError
from roamtui.markdown.escaping import write_checkbox
from roamtui.markdown.formulas import FORMULA, convert_formula, convert_match
from roamtui.markdown.inline import HIDDEN_TAGS

_DEPTH_MAX = 80
"""Maximum depth of the tree, twice as deep as real pages. Only the text of deeper elements is kept."""
_WITHOUT_MEANING = ("span", "font", "abbr", "wbr", "small", "u")
"""Elements whose tags are removed, so that a word that is partly in one is escaped as a whole."""
_HIDDEN_NAMES = HIDDEN_TAGS.union(("nav", "object", "audio", "video", "canvas", "datalist")) - {"svg"}
_HIDDEN_ROLES = frozenset({"navigation", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog"})
_LABELLED = frozenset({"button", "meter", "progress"})
_DRAWN = _LABELLED | {"input", "select", "svg", "iframe", "img"}
"""Elements that are drawn in a frame, so that words around them are never one word."""
_FRAMED_NAMES = frozenset({*_WITHOUT_MEANING, "a", "label"})
"""Elements in a line that a style may draw in a frame."""
_FRAME_STYLE = re.compile(
    r"display\s*:\s*(?:inline-)?(?:block|flex|grid)|^(?=.*background).*padding[^:;]*:[^;]*[1-9]",
    re.IGNORECASE,
)
"""Styles of a frame: as a block, or with room around its words on a background."""
_TICK_BOXES = frozenset({"checkbox", "radio"})
_DRAWN_TICK_BOX = re.compile(r"(?:^|\s)checkbox-(?:(?P<on>on)|off)(?=\s|$)")
"""The class of a tick box that is an empty element, as Notion writes it."""
_FIELDS_WITHOUT_VALUE = _TICK_BOXES | {"hidden", "password", "file", "range", "color", "image"}
"""Types of fields whose value a page does not show as text."""
_SPOKEN_CLASS = re.compile(r"(?:visually-hidden|sr-only|screen-reader-text)(?=\s|$)")
"""Ends of the classes of text that only screen readers present."""
_HIDDEN_CLASSES = frozenset(
    {"linenos", "lineno", "mw-editsection", "skip-link", "breadcrumb", "breadcrumbs", "viewcode-link"}
)
_HIDING_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
_SVG_LABELS_XPATH = ".//*[self::text or self::foreignobject][not(ancestor::defs or ancestor::symbol)]"
_PLACES = frozenset({"x", "y", "dx", "dy"})
_FORMULAS_XPATH = r"//text()[contains(., '\(') or contains(., '\[')][not(ancestor::pre or ancestor::code)]"
_TEX_CLASSES = frozenset({"math", "arithmatex"})
"""Classes of a formula between brackets with backslashes, which may be a single letter."""
_ANCHOR_SIGNS = frozenset({"", "\uf0c1", "#", "¶", "§", "🔗", "⚓", "∞"})
"""Texts of the links that a page adds to its headings."""
_STYLED = re.compile(
    r"(?P<sup>vertical-align\s*:\s*super\b|(?<![\w-])top\s*:\s*-0?\.\d+em)"
    r"|(?P<sub>vertical-align\s*:\s*sub\b|(?<![\w-])top\s*:\s*0?\.\d+em)"
    r"|(?P<s>text-decoration[\w-]*\s*:[^;]*?line-through)",
    re.IGNORECASE,
)
"""Styles that mean the same as an element, such as a small move up. Each group has that element's name."""
_RAISED_CLASS = re.compile(
    r"(?:^|[\s_-])su(?:(?P<sup>p|per|perscript)|(?P<sub>b|bscript))(?=\s|$)", re.IGNORECASE
)
_STYLED_CLASS = re.compile(r"\.([\w-]{1,100})(?:\s*>\s*li::?before)?\s*$")
"""The class at the end of a selector. Google Docs writes the numbers of a list as text before its items."""
_SHEET_STYLE = re.compile(
    r"vertical-align: ?su(?:per|b)|(?<![\w-])top: ?-?0?\.\d+em|text-decoration(?:-line)?: ?line-through"
    r"|(?:lower|upper)-(?:alpha|latin|roman)|font-weight: ?(?:bold|[6-9]00)"
    r"|display: ?(?:inline-)?(?:block|flex|grid)|padding[\w-]{0,20}: ?[^;}]{0,80}[1-9]|background"
    rf"|font-family: ?[\"']?(?:{SYMBOL_FONT.pattern})",
    re.IGNORECASE,
)
"""What is read of a style sheet. Whether it hides an element may depend on the screen and on programs."""
StyleSheet = Mapping[str, tuple[str, ...]]
"""What is read of a style sheet, by class."""
_FONT = re.compile(r"font-family\s*:\s*[\"']?([\w ]{1,30})", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s?|sourcecode\s(?:numbersource\s)?|hljs\s)"
    r"(?!(?:default|none|notranslate|plaintext|nohighlight|text|source)\b)([\w+#.-]{1,30})(?=[\s;]|$)"
)
_LANGUAGE_DEPTH = 6
"""Number of elements around a code block that may declare its language. Line numbers add four."""
_ROW_PARENTS = frozenset({"table", "thead", "tbody", "tfoot"})
_SIGNED = tuple(
    name for name, mark in MARKS_BY_NAME.items() if not mark.isalnum() and name not in ("dt", "q")
)
"""Elements that Markdown writes as signs around their words."""
_END_OF_PAGE = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE)
"""Browsers show what follows it, but libxml2 leaves it out."""
_CONTROL = re.compile(
    r"(?P<space>[\x0b\x0c])|[\x01-\x08\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:0*(?:[1-8]|1[124-9]|2\d|3[01]|6553[45])(?!\d)|x0*(?:[1-8bcef]|1[\da-f]|fff[ef])(?![\da-f]));?",
    re.IGNORECASE,
)
"""Invisible characters, and references to them. lxml raises an error if a text contains one."""
_TITLE_LENGTH_MAX = 300


def read_page(
    source: str,
    base_url: str | None = None,
    *,
    image_base: str | None = None,
    styles: StyleSheet | None = None,
    finds_titles: bool = False,
) -> tuple[Any, str]:
    """Return the tree of a page without hidden elements, and its title.

    `styles`, for example of a book, are added to the page's own. With `finds_titles`, lines that look like
    titles become headings, if the page has no headings.

    Raises:
        SourceError: The page is nested more deeply than libxml2 allows.
    """
    root = parse_html_tree(source)
    for element in root.xpath(f"//*[count(ancestor::*) = {_DEPTH_MAX}]"):
        strip_tags(element, "*")
    controlled_ids: frozenset[str] = frozenset()
    if CONTROLS.search(source):
        label_panels(root)
        controlled_ids = list_controlled_ids(root)
    own_sheet = "".join(style.text or "" for style in root.iter("style"))
    looks = _apply_styles(root, styles or {}, read_style_sheet(own_sheet))
    _clean(root, controlled_ids, base_url, image_base)
    for title in root.iter(*HEADINGS):
        _empty_buttons_after_words(title)
    has_sign_fonts = any(map(SYMBOL_FONT.search, (source, *looks)))
    for element in root.iter() if has_sign_fonts else ():
        if SYMBOL_FONT.fullmatch(font := _get_font(element)):
            _translate_font(element, font)
    _promote_signatures(root)
    if finds_titles:
        promote_titles(root)
    for heading in root.iter(*HEADINGS):  # before the tags in it that have ids are removed
        first_id = next(filter(None, (each.get("id") for each in heading.iter())), None)
        if first_id is not None:
            heading.set("id", first_id)
    strip_tags(root, *_WITHOUT_MEANING)
    _convert_formulas(root)
    _wrap_loose_cells(root)
    _join_marked(root)
    titles = [" ".join((title.text or "").split()) for title in root.iter("title")]
    strip_elements(root, "title", with_tail=False)
    return root, next(filter(None, titles), "")[:_TITLE_LENGTH_MAX]


def parse_html_tree(source: str) -> Any:
    """Return the whole tree of a page.

    Raises:
        SourceError: The page is nested more deeply than libxml2 allows.
    """
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    whole = _END_OF_PAGE.sub("", replace_surrogates(source))
    whole = _CONTROL.sub(lambda control: " " if control["space"] else "", whole)
    root = fromstring(f"<html>{whole}".encode(), parser)
    if parser.error_log.last_error and parser.error_log.last_error.type == ErrorTypes.ERR_RESOURCE_LIMIT:
        raise SourceError("The page has too many elements inside each other. Save it as text from a browser.")
    return root


def read_style_sheet(style_sheet: str) -> StyleSheet:
    """Read what counts for the text of what a style sheet says of classes."""
    styles: dict[str, dict[str, None]] = {}
    for rule in style_sheet.split("}"):
        selectors, _, declarations = rule.rpartition("{")
        read = dict.fromkeys(_SHEET_STYLE.findall(declarations))
        for name in map(_STYLED_CLASS.search, selectors.split(",") if read else ()):
            if name:
                styles.setdefault(name[1], {}).update(read)
    return {name: tuple(looks) for name, looks in styles.items()}


def _apply_styles(root: Any, *sheets: StyleSheet) -> set[str]:
    """Add what style sheets say of a class to the style of its elements, and return all that was added."""
    added: set[str] = set()
    for element in root.iter() if any(sheets) else ():
        looks = [look for name in _list_classes(element) for sheet in sheets for look in sheet.get(name, ())]
        if looks:
            element.set("style", ";".join([*looks, element.get("style", "")]))
            added.update(looks)
    return added


def _clean(root: Any, controlled_ids: frozenset[str], base_url: str | None, image_base: str | None) -> None:
    """Empty hidden elements, make links absolute, and reduce formulas, drawings and fields to their words."""
    base = next(root.iter("base"), None)
    if base is not None and base_url:
        base_url = make_absolute_href(base.get("href", ""), base_url) or base_url
    for element in _iter_remaining(root):
        is_spoken = _is_spoken(element)
        parts_words = _is_framed(element) or element.get("aria-hidden") == "true" or is_spoken
        if tex := _get_tex(element):
            _replace_content(element, convert_formula(tex) or element.text)
            element.tag = "math" if element.tag in ("span", "script") else element.tag
        elif is_spoken:
            _replace_content(element, "")
            element.set("class", "sr-only")  # the element after it may show the same
        elif _is_hidden(element, controlled_ids):
            element.clear(keep_tail=True)
        elif element.tag == "a":
            _clean_link(element, base_url)
        elif element.tag == "img" and not _is_initial(element):
            # Pages that load images late keep the URL in data-src.
            source = element.get("src") or element.get("data-src") or ""
            element.set("src", make_absolute_href(source, image_base or base_url))
        else:
            _write_drawn_words(element)
        follows = element.tail or ("" if element.getnext() is None else "x")
        if parts_words and follows[:1].isalnum() and next(element.iterancestors("pre"), None) is None:
            element.tail = f" {element.tail or ''}"


def _empty_buttons_after_words(title: Any) -> None:
    """Empty the buttons after the words of a title, such as one that copies a link."""
    has_words = False
    after: list[Any] = []
    for event, element in iterwalk(title, events=("start", "end")):
        if event == "start" and element.tag == "button" and has_words:
            after.append(element)
        text = element.text if event == "start" else element.tail
        has_words = has_words or any(map(str.isalpha, text or ""))
    for button in after:
        button.clear(keep_tail=True)


def _iter_remaining(root: Any) -> Iterator[Any]:
    """Yield each element before its children, without those that the caller has removed by then."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting.extend(reversed(element))


def _write_drawn_words(element: Any) -> None:
    """Write the words that a browser draws for an element, such as a field, in place of its content."""
    if _is_initial(element):
        _replace_content(element, element.get("alt"))
        element.tag = "span"
    elif element.tag == "select":
        _replace_content(element, f" {_read_chosen_options(element)}")
    elif element.tag == "input":
        element.text = _read_field(element)
    elif start := _find_drawn_start(element):
        element.text = f"{start}{element.text or ''}"
        element.tag = "span" if element.tag == "div" else element.tag
    elif element.tag == "math":
        _replace_content(element, write_formula(element))
    elif element.tag == "svg":
        for part in element.iter("tspan"):  # a part with a place of its own is another word
            part.text = f" {part.text or ''}" if _PLACES.intersection(part.keys()) else part.text
        labels = element.xpath(_SVG_LABELS_XPATH)
        _replace_content(element, " ".join(filter(None, map(join_text, labels))))
        element.tag = "div" if element.text else "svg"
    elif element.tag in _WITHOUT_MEANING and element.keys():
        look = _STYLED.search(element.get("style", "")[:ATTRIBUTE_LENGTH_MAX])
        look = look or _RAISED_CLASS.search(element.get("class", "")[:ATTRIBUTE_LENGTH_MAX])
        element.tag = look.lastgroup if look else element.tag


def _is_initial(element: Any) -> bool:
    """Return whether an element is a picture of the first letter of a word."""
    is_letter = element.tag == "img" and len(element.get("alt", "")) == 1
    return is_letter and (element.tail or "")[:1].islower()


def _is_framed(element: Any) -> bool:
    """Return whether an element is drawn in a frame, which parts words. A large first letter does not."""
    if element.tag in _DRAWN:
        return not _is_initial(element)
    style = element.get("style", "")[:ATTRIBUTE_LENGTH_MAX] if element.tag in _FRAMED_NAMES else ""
    text = join_text(element) if _FRAME_STYLE.search(style) else ""
    is_word = any(map(str.isalnum, text[:-1]))
    return is_word and next(element.iterancestors("pre", "code"), None) is None


def _follows_word(element: Any) -> bool:
    before = element.getprevious()
    text = element.getparent().text or "" if before is None else before.tail or "x"
    return text[-1:].isalnum()


def _replace_content(element: Any, text: str) -> None:
    element.clear(keep_tail=True)
    element.text = text


def _get_font(element: Any) -> str:
    """Return the first font that an element names for its text, or ""."""
    font = _FONT.search(element.get("style", "")[:ATTRIBUTE_LENGTH_MAX])
    return font[1].strip() if font else element.get("face", "").partition(",")[0].strip()


def _translate_font(element: Any, font: str) -> None:
    """Replace letters that a font draws as signs, but not in elements with a font of their own."""
    element.text = translate_symbols(element.text or "", font)
    for child in element:
        if not _get_font(child):
            _translate_font(child, font)
        child.tail = translate_symbols(child.tail or "", font)


def _repeats_formula(element: Any) -> bool:
    """Return whether an element is the TeX of the formula before it, or KaTeX's drawing of that."""
    before = element.getprevious()
    is_copy = element.get("type", "").startswith("math/tex") or "katex-html" in _list_classes(element)
    if before is None or not is_copy or not join_text(before):
        return False
    is_by_mathjax = any(name.startswith("MathJax") for name in _list_classes(before))
    return is_by_mathjax or next(before.iter("math"), None) is not None


def _get_tex(element: Any) -> str:
    """Return the TeX that an element holds for a program that draws it, or ""."""
    text = element.text or ""
    if element.tag == "script" and element.get("type", "").startswith("math/tex"):
        return "" if _repeats_formula(element) else text
    if len(element) or _TEX_CLASSES.isdisjoint(_list_classes(element)):
        return ""
    formula = FORMULA.fullmatch(" ".join(text.split()))
    return (formula["round"] or formula["square"] or "") if formula else ""


def _convert_formulas(root: Any) -> None:
    """Convert formulas between brackets with backslashes, as scripts of pages do, but not in code."""
    for text in root.xpath(_FORMULAS_XPATH):
        owner = text.getparent()
        place = "text" if text.is_text else "tail"
        # Where tags were removed, one text is in several nodes.
        setattr(owner, place, FORMULA.sub(_replace_formula, getattr(owner, place).replace("\n", " ")))


def _replace_formula(match: re.Match[str]) -> str:
    """Return a formula in brackets as text. Text between dollars stays, because it may be prices or names."""
    is_bracketed = match.lastgroup in ("round", "square")
    return (is_bracketed and convert_match(match)) or match[0]


def _read_field(field: Any) -> str:
    """Return the words that a page shows in a field: its value, or a tick box for the words after it.

    A tick box without words only switches what a page shows.
    """
    kind = field.get("type", "").lower()
    if kind not in _FIELDS_WITHOUT_VALUE:
        return f" {field.get('value', '')}"
    label = field.getparent()
    has_words = (field.tail or "").strip()
    if label.tag == "label":
        has_words = has_words or join_text(label) or (label.tail or "").strip()
    is_shown = kind in _TICK_BOXES and has_words
    return f" {write_checkbox(is_checked='checked' in field.attrib)} " if is_shown else ""


def _find_drawn_start(element: Any) -> str:
    """Return what the style of a page draws before the words of an element."""
    if element.tag in _LABELLED:
        return " "
    if element.tag in _FRAMED_NAMES and _is_framed(element):
        return " " if _follows_word(element) else ""
    class_names = element.get("class", "")
    if class_names == "classifier":
        return " : "  # the style of Sphinx draws the colon before a type
    if "data-inline-task-id" in element.attrib:  # an item of a list of tasks in Confluence
        return f"{write_checkbox(is_checked='checked' in _list_classes(element))} "
    box = _DRAWN_TICK_BOX.search(class_names[:ATTRIBUTE_LENGTH_MAX])
    return f" {write_checkbox(is_checked=box['on'] is not None)} " if box else ""


def _is_hidden(element: Any, controlled_ids: frozenset[str]) -> bool:
    """Return whether an element is part of the navigation, or is invisible and opened by no control."""
    if not element.keys() and element.tag not in ("footer", "button", "dialog"):
        return element.tag in _HIDDEN_NAMES
    is_shadow = "shadowrootmode" in element.attrib  # a template that is shown
    if (
        (element.tag in _HIDDEN_NAMES and not is_shadow)
        or element.get("role", "").lower() in _HIDDEN_ROLES
        or not _HIDDEN_CLASSES.isdisjoint(_list_classes(element))
        or _repeats_formula(element)
    ):
        return True
    if element.tag == "button" and next(element.iterancestors("pre"), None) is not None:
        return True
    if element.tag == "footer":  # the footer of a quote names who said it
        return next(element.iterancestors("blockquote", "figure"), None) is None
    is_invisible = (
        element.get("hidden", "until-found").lower() != "until-found"
        or (element.tag == "dialog" and "open" not in element.attrib)
        or (element.get("aria-hidden") == "true" and element.tag != "pre" and not _has_spoken_twin(element))
        or _HIDING_STYLE.search(element.get("style", "")[:ATTRIBUTE_LENGTH_MAX]) is not None
    )
    # Pages that draw a formula hide its readable form.
    is_formula = len(element) == 1 and element[0].tag == "math"
    return (
        is_invisible and not is_formula and not (element.tag in BLOCKS and is_panel(element, controlled_ids))
    )


def _has_spoken_twin(element: Any) -> bool:
    """Return whether text for screen readers is next to an element that is not an icon."""
    neighbours = [each for each in (element.getprevious(), element.getnext()) if each is not None]
    is_icon = element.tag == "i" or "icon" in element.get("class", "")
    return not is_icon and any(map(_is_spoken, neighbours))


def _is_spoken(element: Any) -> bool:
    """Return whether only screen readers present an element."""
    return _SPOKEN_CLASS.search(element.get("class", "")[:ATTRIBUTE_LENGTH_MAX]) is not None


def _list_classes(element: Any) -> list[str]:
    names: list[str] = element.get("class", "")[:ATTRIBUTE_LENGTH_MAX].split()
    return names


def _read_chosen_options(menu: Any) -> str:
    chosen = menu.xpath(".//option[@selected]")
    if "multiple" not in menu.attrib:
        chosen = chosen[-1:] or menu.xpath("(.//option[not(ancestor-or-self::*/@disabled)])[1]")
    return ", ".join(option.get("label") or join_text(option) for option in chosen)


def _clean_link(link: Any, base_url: str | None) -> None:
    """Empty a permalink, and make any other link absolute."""
    href = link.get("href", "")
    if "#" in href:
        words = "".join(link.itertext("*"))
        if words.strip("\u200b\ufeff \n") in _ANCHOR_SIGNS and link.find(".//img") is None:
            link.clear(keep_tail=True)
            if words.isspace():  # it separates the words around it
                link.tail = f" {link.tail or ''}"
            return
    # A heading that links to itself is plain text in Markdown.
    is_self_link = href.startswith("#") and next(link.iterancestors(*HEADINGS), None) is not None
    link.set("href", "" if is_self_link else make_absolute_href(href, base_url))


def _wrap_loose_cells(root: Any) -> None:
    """Put the cells of a table that are in no row into a row, as browsers do."""
    loose: Any = None
    for cell in [*root.iter("td", "th")]:
        if cell.getparent().tag in _ROW_PARENTS:
            before = cell.getprevious()
            if before is None or before is not loose:
                loose = cell.makeelement("tr")
                cell.addprevious(loose)
            loose.append(cell)


def _join_marked(root: Any) -> None:
    """Join neighbours with the same mark, because `*a**b*` is not valid Markdown. Targets of links stay."""
    for element in [*root.iter(*_SIGNED)]:
        before = element.getprevious()
        if before is None or before.tail or element.get("id"):
            continue
        if before.tag in _SIGNED and MARKS_BY_NAME[before.tag] == MARKS_BY_NAME[element.tag]:
            before.append(element)
            before.tail, element.tail = element.tail, None
            element.tag = "span"
    strip_tags(root, "span")


def _promote_signatures(root: Any) -> None:
    """Turn the functions and classes that Sphinx lists into headings, one level below the last heading."""
    level = 0
    for element in [*root.iter(*HEADINGS, "dt")]:
        if element.tag != "dt":
            level = int(element.tag[1])
            continue
        before = element.getprevious()
        is_further = before is not None and before.tag in ("dt", *HEADINGS)
        if "sig-object" in _list_classes(element) and not is_further:
            depth = sum(1 for _ in element.iterancestors("dl"))
            _replace_content(element, join_text(element))
            element.tag = HEADINGS[min(level + depth, len(HEADINGS)) - 1]


def detect_code_language(code: Any) -> str:
    """Return the language that a code block, an element in it or one around it declares, or ""."""
    elements = (code, *islice(code.iterancestors(), _LANGUAGE_DEPTH), *code.iter())
    for element in elements:
        declared = _LANGUAGE.search(element.get("class", "")[:ATTRIBUTE_LENGTH_MAX].lower())
        if declared:
            return declared[1]
    return ""
