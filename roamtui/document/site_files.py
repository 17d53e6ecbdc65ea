"""`SiteFiles`: fetches the files in which a site may list its pages, all within one time limit."""

import time
from urllib.parse import urlsplit

from roamtui.convert.converted import PageReport
from roamtui.errors import SourceError
from roamtui.web.page import MISSING_STATUSES, FetchedPage, FetchError, PageFetcher


class SiteFiles:
    """The files of one site that say which pages it has: lists, robots.txt, sitemaps."""

    def __init__(self, fetch: PageFetcher, url: str, on_progress: PageReport, seconds_max: float) -> None:
        """The time of the site starts now."""
        self._fetch = fetch
        self._host = urlsplit(url).netloc
        self._on_progress = on_progress
        self._seconds_max = seconds_max
        self._ends_at = time.monotonic() + seconds_max
        self._count = 0
        self.is_cut = False
        """Whether something was left out because the time was over."""
        self.list_problem = ""
        """Why the list that the site may have could not be fetched."""

    def fetch(self, url: str) -> FetchedPage:
        """Fetch a file, also from other public origins, or raise a `SourceError`."""
        if self.cut_if_late():
            raise FetchError(f"{url} was not fetched, because {self._host} answers too slowly.")
        self._count += 1
        self._on_progress(self._count, 0)
        try:
            seconds_max = self._ends_at - time.monotonic()
            return self._fetch(url, seconds_max=seconds_max, follows_public=True)
        except SourceError as error:
            is_missing = isinstance(error, FetchError) and error.status in MISSING_STATUSES
            if not self.cut_if_late() and not is_missing:
                self.list_problem = self.list_problem or str(error)
            raise

    def cut_if_late(self) -> bool:
        """Return whether the time is over. If it is, set `is_cut`."""
        self.is_cut = self.is_cut or time.monotonic() >= self._ends_at
        return self.is_cut

    def begin_note(self, url: str) -> str:
        """Begin a sentence that says what is shown of the site at `url` instead of its llms.txt."""
        if self.is_cut:
            return f"{self._host} took more than {self._seconds_max:g} seconds to list its pages, so"
        return f"{self.list_problem} So" if self.list_problem else f"{url} has no llms.txt, so"
