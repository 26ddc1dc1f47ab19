"""A model hub on localhost: as much of its HTTP as huggingface_hub needs to fetch a model."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class Hub:
    """Models by id: folders by revision. After `stall_after` bytes of a file it sends no more."""

    models: dict[str, dict[str, Path]]
    stall_after: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list)
    stalled: threading.Event = field(default_factory=threading.Event)
    address: str = ""


def commit(revision: str) -> str:
    """The commit of a branch or tag; a commit's own is itself."""
    return revision if len(revision) == 40 else hashlib.sha1(revision.encode()).hexdigest()


def files(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub at `hub.address`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def log_message(self, *_: object) -> None:
            pass

        def answer(self, with_body: bool) -> None:
            path = self.path.partition("?")[0].strip("/").split("/")
            if path[:2] == ["api", "models"]:
                self.about("/".join(path[2:4]), path[5] if len(path) > 5 else "main")
            else:
                self.file("/".join(path[:2]), path[3], "/".join(path[4:]), with_body)

        def found(self, name: str, revision: str) -> tuple[Path, str] | None:
            there = hub.models.get(name)
            if there is None:
                return self.lacking(401 if name.startswith("private/") else 404, "RepoNotFound")
            for known, folder in there.items():
                if revision in (known, commit(known)):
                    return folder, commit(known)
            return self.lacking(404, "RevisionNotFound")

        def lacking(self, status: int, code: str) -> None:
            self.begin(status, 0, {"X-Error-Code": code, "X-Error-Message": code})

        def begin(self, status: int, size: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, said in {**headers, "Content-Length": str(size)}.items():
                self.send_header(name, said)
            self.end_headers()

        def about(self, name: str, revision: str) -> None:
            if found := self.found(name, revision):
                folder, sha = found
                known = [{"rfilename": n, "size": p.stat().st_size} for n, p in files(folder).items()]
                body = json.dumps({"id": name, "sha": sha, "siblings": known}).encode()
                self.begin(200, len(body), {"Content-Type": "application/json"})
                self.wfile.write(body)

        def file(self, name: str, revision: str, wanted: str, with_body: bool) -> None:
            found = self.found(name, revision)
            if found is None:
                return
            folder, sha = found
            data = (folder / wanted).read_bytes()
            start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
            told = {
                "ETag": f'"{hashlib.sha256(data).hexdigest()}"',
                "X-Repo-Commit": sha,
                "Accept-Ranges": "bytes",
            }
            if start:
                told["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            self.begin(206 if start else 200, len(data) - start, told)
            if not with_body:
                return
            hub.asked.append((wanted, start))
            if hub.stall_after and len(data) > hub.stall_after:
                self.wfile.write(data[start : hub.stall_after])
                self.wfile.flush()
                hub.stalled.set()
                self.rfile.read(1)  # until the client is gone
            else:
                self.wfile.write(data[start:])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
