"""An object store on loopback with the part of S3 that LanceDB uses; a bucket's first object creates it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from hashlib import md5
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from typing_extensions import override

from tests.fakes.loopback import LoopbackServer, QuietHandler

_WRITTEN_AT = "2026-01-01T00:00:00.000Z"
_LAST_MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT"
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class FakeObjectStore(LoopbackServer):
    """Keeps objects in memory while the block runs. Signatures are not checked, but there must be one.

    Args:
        buckets: Names of the buckets that there are.
    """

    def __init__(self, *buckets: str) -> None:
        self.objects: dict[str, bytes] = {}
        """Objects by bucket and key."""
        self.buckets = set(buckets)
        self.parts: dict[tuple[str, str], dict[int, bytes]] = {}
        """Parts of incomplete uploads, by path and number of the upload."""
        self.requests: list[tuple[str, str]] = []
        """Method and path of each request, oldest first."""
        self.keys_seen: set[str] = set()
        """Access keys of the signed requests."""
        self.lock = threading.Lock()
        super().__init__(_Handler)

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the environment that makes LanceDB use this store."""
        return {
            "AWS_ENDPOINT": self.origin,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "key-of-tests",
            "AWS_SECRET_ACCESS_KEY": "secret-of-tests",
            "AWS_REGION": "eu-central-1",
        }


class _Handler(QuietHandler):
    fake: FakeObjectStore

    @override
    def parse_request(self) -> bool:
        """Read a request, and refuse it without a signature or a bucket."""
        if not super().parse_request():
            return False
        address = urlsplit(self.path)
        self.key = unquote(address.path).strip("/")
        self.asked = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        self.body = self.read_body()
        with self.fake.lock:
            self.fake.requests.append((self.command, self.key))
        signed = re.search(r"Credential=([^/]+)/", self.headers.get("authorization", ""))
        if signed is None:
            self._refuse(403, "AccessDenied")
            return False
        self.fake.keys_seen.add(signed.group(1))
        if self.key.partition("/")[0] not in self.fake.buckets:
            self._refuse(404, "NoSuchBucket")
            return False
        return True

    def do_GET(self) -> None:
        if "list-type" in self.asked:
            self._list()
            return
        data = self.fake.objects.get(self.key)
        if data is None:
            self._refuse(404, "NoSuchKey")
            return
        found = _RANGE.fullmatch(self.headers.get("range", ""))
        if found is None:
            self._send(200, data, etag=_make_etag(data))
            return
        first, last = found.groups()
        start = int(first) if first else len(data) - int(last)
        end = min(int(last) + 1, len(data)) if first and last else len(data)
        self._send(206, data[start:end], etag=_make_etag(data), content_range=f"bytes {start}-{end - 1}/{len(data)}")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        with self.fake.lock:
            if "partNumber" in self.asked:
                self.fake.parts[self.key, self.asked["uploadId"]][int(self.asked["partNumber"])] = self.body
            elif self.headers.get("if-none-match") == "*" and self.key in self.fake.objects:
                self._refuse(412, "PreconditionFailed")
                return
            else:
                source = unquote(self.headers.get("x-amz-copy-source", "")).strip("/")
                self.fake.objects[self.key] = self.fake.objects[source] if source else self.body
        self._send(200, etag=_make_etag(self.body))

    def do_DELETE(self) -> None:
        with self.fake.lock:
            self.fake.objects.pop(self.key, None)
        self._send(204)

    def do_POST(self) -> None:
        with self.fake.lock:
            if "delete" in self.asked:
                keys = re.findall(r"<Key>([^<]*)</Key>", self.body.decode())
                for key in keys:
                    self.fake.objects.pop(f"{self.key}/{key}", None)
                deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
                reply = f"<DeleteResult>{deleted}</DeleteResult>"
            elif "uploads" in self.asked:
                number = str(len(self.fake.parts))
                self.fake.parts[self.key, number] = {}
                reply = f"<R><Bucket>b</Bucket><Key>k</Key><UploadId>{number}</UploadId></R>"
            else:
                parts = self.fake.parts.pop((self.key, self.asked["uploadId"]))
                self.fake.objects[self.key] = b"".join(parts[number] for number in sorted(parts))
                reply = '<R><Location>l</Location><Bucket>b</Bucket><Key>k</Key><ETag>"0"</ETag></R>'
        self._send(200, reply.encode())

    def _list(self) -> None:
        prefix, delimiter = self.asked.get("prefix", ""), self.asked.get("delimiter", "")
        folders, entries = set(), []
        with self.fake.lock:
            objects = sorted(self.fake.objects.items())
        for path, data in objects:
            bucket, _, key = path.partition("/")
            if bucket != self.key or not key.startswith(prefix):
                continue
            head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            if found:
                folders.add(f"<CommonPrefixes><Prefix>{escape(prefix + head + found)}</Prefix></CommonPrefixes>")
            else:
                size = f"<Size>{len(data)}</Size><ETag>{_make_etag(data)}</ETag>"
                entries.append(
                    f"<Contents><Key>{escape(key)}</Key><LastModified>{_WRITTEN_AT}</LastModified>{size}</Contents>"
                )
        listed = "".join([*entries, *sorted(folders)])
        self._send(200, f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>".encode())

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def _send(self, status: int, body: bytes = b"", *, etag: str = "", content_range: str = "") -> None:
        self.reply(status, body, last_modified=_LAST_MODIFIED, etag=etag, content_range=content_range)


def _make_etag(data: bytes) -> str:
    return f'"{md5(data, usedforsecurity=False).hexdigest()}"'
