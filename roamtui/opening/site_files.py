"""`SiteFiles`: fetches the files in which a site may list its pages, all within one time limit."""

import time
from urllib.parse import urlsplit

from roamtui.convert.converted import ProgressCallback
from roamtui.errors import SourceError
from roamtui.web.page import MISSING_STATUSES, FetchedPage, FetchError, PageFetcher

_SECONDS_MAX = 20.0
"""Time for all files in which a site may list its pages. A slow site needs half a second for each."""


class SiteFiles:
    """The files of one site that say which pages it has: lists, robots.txt, sitemaps."""

    def __init__(self, fetch: PageFetcher, url: str, on_progress: ProgressCallback) -> None:
        """Start the time limit of the site."""
        self._fetch = fetch
        self._url = url
        self._host = urlsplit(url).netloc
        self._on_progress = on_progress
        self._ends_at = time.monotonic() + _SECONDS_MAX
        self._count = 0
        self._list_problem = ""
        """Why a list that the site may have could not be read; empty if nothing failed."""

    @property
    def is_late(self) -> bool:
        """Whether the time is over, so that nothing more is fetched."""
        return time.monotonic() >= self._ends_at

    def fetch(self, url: str) -> FetchedPage:
        """Fetch a file, following redirects to other public origins, or raise a `SourceError`."""
        if self.is_late:
            raise FetchError(f"{url} was not fetched, because {self._host} answers too slowly.")
        self._count += 1
        self._on_progress(self._count, 0)
        try:
            seconds_max = self._ends_at - time.monotonic()
            return self._fetch(url, seconds_max=seconds_max, follows_public=True)
        except SourceError as error:
            is_missing = isinstance(error, FetchError) and error.status in MISSING_STATUSES
            if not self.is_late and not is_missing:
                self.note_problem(str(error))
            raise

    def note_problem(self, problem: str) -> None:
        """Note why a list could not be read. Only the first problem counts."""
        self._list_problem = self._list_problem or problem

    def explain_missing_list(self) -> str:
        """Return a sentence that says why the site's llms.txt is not shown."""
        if self.is_late:
            return f"{self._host} took more than {_SECONDS_MAX:g} seconds to list its pages."
        return self._list_problem or f"{self._url} has no llms.txt."
