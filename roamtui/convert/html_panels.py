"""Find the parts of a page that are folded, such as panels of tabs, and write tab labels above their panels.

A reader can unfold these parts, so they are text. A hidden part that no control opens is left out, because no
person can read it.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from roamtui.convert.html_elements import ATTRIBUTE_LENGTH_MAX
from roamtui.convert.xml_elements import join_text

_PANEL_CLASS = re.compile(
    r"(?:^|[\s_-])(?:accordion|collaps(?:e|ed|ible)|panel|tab|tabs|tab-?pane|tab-?panel|tabbed|faq|toggle|disclosure"
    r"|expand(?:able|er)?|spoiler|details)(?=$|[\s_-])",
    re.IGNORECASE,
)
"""A class that programs give to a panel, or to the element around panels."""
CONTROLS = re.compile("aria-controls|data-target|data-bs-target|data-toggle|tablist|tabbed-labels|role=.?tab")
"""Only pages that match may have tabs or other controls. Looking for these in each page takes long."""
_TAB_LISTS_XPATH = "//*[@role='tablist' or contains(concat(' ', @class, ' '), ' tabbed-labels ')]"
_TABS_XPATH = ".//*[@role='tab'] | label"
_PANELS_XPATH = ".//*[@role='tabpanel' or contains(concat(' ', @class, ' '), ' tabbed-block ')]"
_TAB_LISTS_MAX = 300
_TABS_MAX = 50


def list_controlled_ids(root: Any) -> frozenset[str]:
    """List the ids of the elements that a control of a page opens."""
    ids: set[str] = set()
    for control in root.xpath(
        "//*[@aria-controls or @data-target or @data-bs-target or @data-toggle or @role='tab']"
    ):
        ids.update(control.get("aria-controls", "")[:ATTRIBUTE_LENGTH_MAX].split())
        for name in ("data-target", "data-bs-target", "href"):
            target = control.get(name, "")
            if target.startswith("#"):
                ids.add(target[1:])
    return frozenset(ids)


def is_panel(element: Any, controlled_ids: frozenset[str]) -> bool:
    """Return whether a control opens an element, by its role, its id, or a class of it or around it."""
    if element.get("role") == "tabpanel" or element.get("id") in controlled_ids:
        return True
    around = (element, *islice(element.iterancestors(), 2))
    return any(_PANEL_CLASS.search(part.get("class", "")[:ATTRIBUTE_LENGTH_MAX]) for part in around)


def label_panels(root: Any) -> None:
    """Move the label of each tab to the start of its panel, as a line in bold. Tabs without panels stay."""
    lists = root.xpath(_TAB_LISTS_XPATH)[:_TAB_LISTS_MAX]
    by_id = {element.get("id"): element for element in root.iter()} if lists else {}
    for tab_list in lists:
        tabs = tab_list.xpath(_TABS_XPATH)[:_TABS_MAX]
        panels = _find_panels(tab_list, tabs, by_id)
        if not tabs or len(panels) != len(tabs):
            continue
        for tab, panel in zip(tabs, panels, strict=True):
            label = panel.makeelement("dt")  # a line in bold
            label.text = join_text(tab)
            label.tail = panel.text
            panel.text = None
            panel.insert(0, label)
            panel.set("role", "tabpanel")
        tab_list.clear(keep_tail=True)


def _find_panels(tab_list: Any, tabs: Sequence[Any], by_id: dict[str, Any]) -> list[Any]:
    """Return the panels of tabs: those that the tabs name, or else all panels next to the list."""
    named = [by_id.get(tab.get("aria-controls") or tab.get("href", "").removeprefix("#")) for tab in tabs]
    if all(panel is not None for panel in named):
        return named
    around = tab_list.getparent()
    return [] if around is None else around.xpath(_PANELS_XPATH)[: _TABS_MAX + 1]
