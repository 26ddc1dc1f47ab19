"""The systems are tried through the commands, with the fixtures of their tests."""

from tests.cli.conftest import chats, run

__all__ = ["chats", "run"]
