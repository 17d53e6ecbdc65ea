"""Takes a body in as it comes and decompresses it, never further than its limit."""

from __future__ import annotations

import zlib

from roamtui.sources.web.failures import BodyTooLargeError, FetchError

ACCEPT_ENCODING = "gzip, deflate"
"""What is asked for: the two that can be decompressed in bounded steps without another package."""
_GZIP_BITS = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_MEMBERS_MAX = 100
"""Parts that a gzip file may have; real ones have one."""


class BodyReader:
    """Collects the pieces of one body."""

    def __init__(self, encoding: str, bytes_max: int, url: str) -> None:
        """Begin a body."""
        names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            raise FetchError(f"{url} comes in an encoding that was not asked for. The site must repair that.")
        self._is_deflate = names == ["deflate"]
        self._decoder = None if not names else zlib.decompressobj(zlib.MAX_WBITS if self._is_deflate else _GZIP_BITS)
        self._bytes_max = bytes_max
        self._url = url
        self._pieces: list[bytes] = []
        self._length = 0
        self._members = 1
        self.bytes_received = 0
        """As they came, before decompression."""

    def add(self, data: bytes) -> None:
        """Take in the next piece."""
        self.bytes_received += len(data)
        if self.bytes_received > self._bytes_max:
            raise BodyTooLargeError(self._url, self._bytes_max)
        if self._decoder is None:
            self._keep(data)
            return
        try:
            self._decompress(data)
        except zlib.error:
            raise FetchError(f"{self._url} came damaged: it cannot be decompressed. Try again.") from None

    def finish(self) -> bytes:
        """Return the whole body."""
        if self._decoder is not None and self.bytes_received and not self._decoder.eof:
            raise FetchError(f"{self._url} came incomplete. Try again.")
        return b"".join(self._pieces)

    def _decompress(self, data: bytes) -> None:
        while data:
            assert self._decoder is not None
            if self._decoder.eof:
                if self._is_deflate or not data.startswith(_GZIP_MAGIC):
                    return
                self._begin_member()
            data = self._decompress_step(data)

    def _decompress_step(self, data: bytes) -> bytes:
        """Decompress as much as there is room for, and return what is left of the input."""
        assert self._decoder is not None
        try:
            piece = self._decoder.decompress(data, self._bytes_max - self._length + 1)
        except zlib.error:
            if not self._is_deflate or self._length or self.bytes_received > len(data):
                raise
            self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)  # many sites send it without zlib's frame
            piece = self._decoder.decompress(data, self._bytes_max + 1)
        self._keep(piece)
        return self._decoder.unused_data if self._decoder.eof else self._decoder.unconsumed_tail

    def _begin_member(self) -> None:
        self._members += 1
        if self._members > _MEMBERS_MAX:
            raise BodyTooLargeError(self._url, self._bytes_max)
        self._decoder = zlib.decompressobj(_GZIP_BITS)

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._bytes_max:
            raise BodyTooLargeError(self._url, self._bytes_max)
        self._pieces.append(piece)
