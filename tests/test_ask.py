import io
from pathlib import Path

import pytest

from smartsearch.ask.library import KEPT_HAYSTACKS, Library
from smartsearch.ask.scope import Scope
from smartsearch.errors import InputError, unexpected


def test_a_library_keeps_the_last_used_and_forgets_the_oldest(tmp_path: Path):
    path = tmp_path / "chat.txt"
    path.write_text("Ann: hello\nBen: hi\n", encoding="utf-8")
    library = Library()
    sources = [Scope((str(path),), globs=(f"*{'*' * n}",)) for n in range(KEPT_HAYSTACKS + 1)]
    first = library.haystack(sources[0])
    assert library.haystack(sources[0]) is first
    for source in sources[1:]:
        library.haystack(source)
    assert library.haystack(sources[0]) is not first


def test_standard_input_is_read_once_and_served_again():
    library = Library(io.BytesIO(b"Ann: hello\nBen: hi\n"))
    sizes = [len(library.haystack(Scope(("-",), globs=(glob,)))) for glob in ("*", "**", "***", "****")]
    assert sizes == [2, 2, 2, 2]


def test_standard_input_that_serves_something_else_is_an_error():
    with pytest.raises(InputError):
        Library().haystack(Scope(("-",)))


def test_an_unforeseen_error_is_one_short_line():
    error = unexpected(ValueError("first\nsecond"))
    assert (error.kind, error.message) == ("internal", "ValueError: first")
    assert unexpected(KeyError()).message == "KeyError: no message"
