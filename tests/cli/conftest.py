"""What the tests of the commands share: tiny chats, fake models, a way to run a command in process."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from smartsearch.cli import app as cli
from smartsearch.models import loading
from tests.cli.fakes import LETTERS, fake_tools
from tests.contract import hold_lines

GOLDEN = Path(__file__).parent.parent / "golden"
QUESTION = "When did Mara join the support group?"
CHAT = """\
[2024-05-08 13:56] Mara: I went to the support group yesterday.
[2024-05-08 13:57] Ilya: Wow, how was it?
  Tell me more!
[2024-05-09 10:00] Ilya: My flatmate adopted a dog named Oscar.
[2024-05-10 09:00] Mara: Oscar is a lovely name.
"""
MESSAGES = [
    {"role": "user", "content": "Is there a support group nearby?"},
    {"role": "assistant", "content": "There is one on Mondays."},
]
AWAY = {
    "SMARTSEARCH_LLM_BASE_URL": "http://api.example.com/v1",
    "SMARTSEARCH_LLM_MODEL": "tiny",
    "SMARTSEARCH_LLM_KEY": "sk-very-secret-93",
}
"""A language model on another machine."""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def record(self) -> dict:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("SMARTSEARCH_") and "GOLDEN" not in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "chat.txt").write_text(CHAT, encoding="utf-8")
    (folder / "talk.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(loading, "load_tools", fake_tools)
    monkeypatch.setattr(loading, "tokenizer", lambda: LETTERS)
    return folder


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in process; what it prints as JSON is held to the contract."""

    def ran(*arguments: str) -> Ran:
        code = cli.run(arguments)
        out, err = capfd.readouterr()
        hold_lines(out)
        return Ran(code, out, err)

    return ran


def check_golden(name: str, text: str) -> None:
    text = re.sub(r'("timing_ms":)\{[^}]*\}', r"\1{}", text)
    text = re.sub(r"# ms: .*", "# ms:", text)
    text = re.sub(r'("threads":)\d+', r"\g<1>0", text)
    text = re.sub(r'("tool_version":)"[^"]*"', r'\1""', text)
    path = GOLDEN / name
    if os.environ.get("SMARTSEARCH_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture
def away(server, monkeypatch: pytest.MonkeyPatch):
    """A server that is not on this machine: the one here stands in for it as its proxy."""
    for name, value in AWAY.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    return server
