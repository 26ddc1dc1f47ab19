from __future__ import annotations

import io
from pathlib import Path

import pytest

from smartsearch.ask.library import KEPT_HAYSTACKS, Library, Scope, filtered
from smartsearch.errors import InputError, unexpected
from smartsearch.types import Corpus, Turn

PLACES = {"a": ("conv-1", "s1"), "b": ("conv-1", "s2"), "c": ("conv-2", "s1")}
CORPUS = Corpus(tuple(Turn(text, conversation=c, session=s) for text, (c, s) in PLACES.items()))


@pytest.mark.parametrize(
    ("conversations", "sessions", "left"),
    [((), (), "abc"), (("conv-1",), (), "ab"), ((), ("s1",), "ac"), (("conv-1",), ("s1",), "a")],
)
def test_filters_keep_the_turns_of_the_ids(
    conversations: tuple[str, ...], sessions: tuple[str, ...], left: str
):
    kept = filtered(CORPUS, Scope(conversations=conversations, sessions=sessions))
    assert "".join(turn.text for turn in kept.turns) == left


def test_an_unknown_id_names_the_closest():
    with pytest.raises(InputError) as caught:
        filtered(CORPUS, Scope(conversations=("conv1",)))
    assert caught.value.kind == "unknown_conversation"
    assert "conv-1" in caught.value.hint


def test_a_session_outside_the_conversation_asked_for_is_unknown():
    with pytest.raises(InputError) as caught:
        filtered(CORPUS, Scope(conversations=("conv-2",), sessions=("s2",)))
    assert caught.value.kind == "unknown_session"


def test_transcripts_without_ids_say_so():
    with pytest.raises(InputError) as caught:
        filtered(Corpus((Turn("x"),)), Scope(sessions=("s1",)))
    assert "no sessions" in caught.value.hint


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
