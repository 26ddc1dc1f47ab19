from smartsearch.transcripts.outline import Span, outline, span
from smartsearch.types import Turn


def said(conversation: str, session: str, speaker: str, time: str = "", **more: str) -> Turn:
    return Turn(
        "x", speaker, time, path="a.json", conversation=conversation, session=session, pointer="/0", **more
    )


TALK = [
    said("one", "s1", "Ann", "2024-05-03"),
    said("one", "s1", "Ben", "2024-05-01T10:00:00"),
    said("two", "", "", title="Two's title"),
    said("one", "s2", "Ben", ""),
]


def test_turns_are_counted_under_their_conversations_and_sessions():
    one, two = outline(TALK)
    assert (one.name, one.span) == ("one", Span(3, ("Ben", "Ann"), "2024-05-01T10:00:00", "2024-05-03"))
    assert [(s.name, s.span.turns, s.start) for s in one.sessions] == [("s1", 2, TALK[0]), ("s2", 1, TALK[3])]
    assert (two.title, two.span) == ("Two's title", Span(1, (), "", ""))


def test_nothing_has_no_conversation_and_an_empty_span():
    assert outline([]) == []
    assert span([]) == Span(0, (), "", "")
