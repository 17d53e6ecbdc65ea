"""LanceDB's cloud on loopback: the requests that its client makes, answered from tables in memory."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import lancedb
import pyarrow as pa

from tests.fakes.loopback import LoopbackServer, QuietHandler

KEY = "key-of-tests"
_DATABASE = "shelf"
_VERSION = "0.4.0"
"""Tells the client that the server accepts compound queries."""
_SIMPLE_TYPES = {"int64": "int64", "string": "string", "bool": "boolean"}


class FakeLanceCloud(LoopbackServer):
    """Serves one database while the block runs, to clients with the key."""

    uri = f"db://{_DATABASE}"

    def __init__(self) -> None:
        self.database: Any = lancedb.connect("memory://")
        self.paths: list[str] = []
        """Paths of all requests, oldest first."""
        super().__init__(_Handler)

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the environment that leads here."""
        return {"LANCEDB_API_KEY": KEY, "LANCEDB_HOST_OVERRIDE": self.origin}


class _Handler(QuietHandler):
    fake: FakeLanceCloud

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.fake.paths.append(path)
        body = self.read_body()
        if (self.headers.get("x-api-key"), self.headers.get("x-lancedb-database")) != (KEY, _DATABASE):
            self._send(401, b'{"error": {"message": "The key is wrong."}}')
            return
        if path.endswith("/table/list"):
            self._answer({"tables": self.fake.database.list_tables().tables})
            return
        name, _, action = path.removeprefix("/v1/table/").strip("/").partition("/")
        if action == "create":
            data = pa.ipc.open_stream(body).read_all()
            self.fake.database.create_table(name, data, exist_ok=True)
            self._answer({})
        elif action == "drop":
            self.fake.database.drop_table(name)
            self._answer({})
        elif name not in self.fake.database.list_tables().tables:
            self._send(404, b'{"error": {"message": "There is no such table."}}')
        else:
            self._work(self.fake.database.open_table(name), action, body)

    def do_POST(self) -> None:
        self.do_GET()

    def _work(self, table: Any, action: str, body: bytes) -> None:  # noqa: ANN401 - LanceDB's own
        if action == "insert":
            table.add(pa.ipc.open_stream(body).read_all())
            self._answer({"version": table.version})
            return
        asked = json.loads(body or b"{}")
        if action == "query":
            found = _query(table, asked)
            buffer = io.BytesIO()
            with pa.ipc.new_file(buffer, found.schema) as file:
                file.write_table(found)
            self._send(200, buffer.getvalue(), "application/vnd.apache.arrow.file")
            return
        actions: dict[str, Callable[[], object]] = {
            "describe": lambda: _describe(table),
            "count_rows": table.count_rows,
        }
        self._answer(actions[action]())

    def _answer(self, value: object) -> None:
        self._send(200, json.dumps(value).encode())

    def _send(self, status: int, body: bytes, media_type: str = "application/json") -> None:
        self.reply(status, body, phalanx_version=_VERSION, content_type=media_type)


def _describe(table: Any) -> object:  # noqa: ANN401 - LanceDB's own
    fields = [{"name": field.name, "type": _describe_type(field.type), "nullable": True} for field in table.schema]
    return {"table": table.name, "version": table.version, "schema": {"fields": fields}}


def _describe_type(kind: Any) -> object:  # noqa: ANN401 - one of pyarrow's
    if pa.types.is_fixed_size_list(kind):
        item = {"name": "item", "type": {"type": "halffloat"}, "nullable": True}
        return {"type": "fixed_size_list", "fields": [item], "length": kind.list_size}
    return {"type": _SIMPLE_TYPES[str(kind)]}


def _query(table: Any, asked: Mapping[str, Any]) -> Any:  # noqa: ANN401 - LanceDB's own
    search = table.search()
    if asked.get("columns"):
        search = search.select(asked["columns"])
    if asked.get("with_row_id"):
        search = search.with_row_id(True)  # noqa: FBT003 - LanceDB's own
    return search.limit(min(asked["k"], 1_000_000)).to_arrow()
