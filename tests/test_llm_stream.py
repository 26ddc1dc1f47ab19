"""A reply in pieces from a server on this machine: what is told when, and each way in which it can break."""

import gzip
import json
import time
from itertools import count
from types import SimpleNamespace

import pytest

from smartsearch.llm import Client, Endpoint, LLMError, limits
from tests.llm_server import (
    ENDED,
    USAGE,
    completion,
    events,
    hangs,
    llm_server,
    piece,
    raw,
    says,
    status,
    streams,
    tells,
)
from tests.waiting import HANG, until

KEY = "sk-very-secret-93"
ASK = [{"role": "user", "content": "Who plays the flute?"}]


class Listener:
    """A client and what it was told."""

    def __init__(self, url: str, **options: object) -> None:
        self.waits: list[float] = []
        self.pieces: list[str] = []
        self.client = Client(
            Endpoint(url, "tiny", KEY),
            wait=lambda event, seconds: bool(self.waits.append(seconds)),
            **options,
        )

    def ask(self):
        return self.client.stream(ASK, self.pieces.append, max_tokens=7)


@pytest.fixture
def listener(server):
    made = Listener(server.url)
    yield made
    made.client.close()


def test_pieces_are_told_as_they_come(server, listener):
    heard = []

    def after(sent):
        """The server sends the second piece only when the first was told."""
        until(lambda: len(listener.pieces) >= min(sent, 2), "a piece is told")
        heard.append(list(listener.pieces))

    told = events(piece("Mara"), piece(" does [3]."), ENDED, USAGE, "[DONE]")
    server.script = [streams(*told, after=after)]
    reply = listener.ask()
    assert heard[:2] == [["Mara"], ["Mara", " does [3]."]]
    assert (reply.text, reply.finish, reply.model) == ("Mara does [3].", "stop", "tiny-2024")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (10, 2, False)
    [sent] = server.requests
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        (["<thi", "nk>Petra? ", "no</th", "ink>\n\nMa", "ra"], ["Ma", "ra"]),
        (["\n", " Mara", " \n", "does", "\n"], ["Mara", " \ndoes"]),
        (["<b>", "Mara"], ["<b>", "Mara"]),
        (["<thin"], ["<thin"]),
        (["Petra?", "</think>", "Mara"], ["Petra?", "\n\nMara"]),
        (["so \ud83d"], ["so ?"]),
    ],
)
def test_what_is_told_of_blanks_and_thinking(server, listener, pieces, told):
    server.script = [tells(*pieces)]
    reply = listener.ask()
    assert [p for p in listener.pieces if p] == told
    assert reply.text in "".join(told)


def test_events_may_be_cut_anywhere_and_lines_may_hold_other_line_ends(server, listener):
    told = b"".join(events(piece("a\u2028b\x85"), ENDED)).replace(b"\n", b"\r\n")
    whole = b": hello\r\nevent: message\r\n" + told
    server.script = [streams(*[whole[i : i + 1] for i in range(len(whole))])]
    assert listener.ask().text == "a\u2028b"


def test_a_server_that_does_not_stream(server, listener):
    def whole(handler, body):
        says("not in pieces")(handler, {})

    server.script = [whole]
    assert listener.ask().text == "not in pieces"
    assert listener.pieces == ["not in pieces"]


@pytest.mark.parametrize(
    "fault",
    [
        status(429),
        status(503),
        streams(whole=False),
        streams(*events(piece()), whole=False),
        streams(*events({"error": {"message": "overloaded"}})),
        streams(*events("not JSON")),
        raw('{"error": {"message": "overloaded"}}'),
        raw("<html>not here</html>"),
    ],
)
def test_before_the_first_piece_it_is_tried_again(server, listener, fault):
    server.script = [fault, tells("fine")]
    assert listener.ask().text == "fine"
    assert (listener.waits, len(server.requests)) == ([1.0], 2)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (streams(*events(piece("Mara plays ")), whole=False), "broke off"),
        (streams(*events(piece("Mara plays "))), "broke off after"),
        (streams(*events(piece("Mara plays "), {"error": {"message": f"no, {KEY}"}})), r"failed: no, \*\*\*"),
    ],
)
def test_a_stream_that_breaks_says_how_far_it_came_and_is_not_sent_again(server, listener, fault, said):
    server.script = [fault]
    with pytest.raises(LLMError, match=said) as caught:
        listener.ask()
    assert "after 2 words of the reply" in str(caught.value)
    assert (caught.value.kind, caught.value.retryable) == ("llm_broken", True)
    assert (listener.pieces, listener.waits, len(server.requests)) == (["Mara plays"], [], 1)


def test_a_server_that_falls_silent_in_the_middle(server):
    listener = Listener(server.url, timeout=1.0)
    server.script = [streams(*events(piece("Mara")), after=lambda sent: server.released.wait(HANG))]
    with pytest.raises(LLMError, match="said nothing for 1 seconds after 1 word") as caught:
        listener.ask()
    assert caught.value.kind == "llm_broken"


@pytest.mark.parametrize("silent", [hangs, streams(b": wait\n", after=lambda sent: time.sleep(5))])
def test_a_server_that_says_nothing_is_asked_once(server, silent):
    listener = Listener(server.url, timeout=0.3)
    server.script = [silent]
    with pytest.raises(LLMError, match=r"0\.3 seconds") as caught:
        listener.ask()
    assert (caught.value.kind, caught.value.retryable) == ("llm_unreachable", True)
    assert (listener.waits, len(server.requests)) == ([], 1)


def test_stream_options_that_a_server_turns_down_are_left_out(server, listener):
    server.script = [status(400, error={"param": "stream_options"}), tells("fine")]
    assert listener.ask().text == "fine"
    assert "stream_options" not in server.requests[1]


def test_what_is_sent_goes_to_the_endpoint_and_nowhere_else(server, listener, monkeypatch):
    """Neither through a proxy, for it is this machine, nor where the server points to."""
    with llm_server(lambda body: "elsewhere") as elsewhere:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert Listener(server.url).ask().text == "fine"
        server.script = [status(307, Location=f"{elsewhere.url}/chat/completions")]
        with pytest.raises(LLMError, match="points to http") as caught:
            listener.ask()
        assert elsewhere.requests == []
    assert "SMARTSEARCH_LLM_BASE_URL" in caught.value.hint


def test_what_the_listener_raises_ends_the_request(server, listener):
    def gone(text):
        raise BrokenPipeError

    server.script = [tells("Mara", " does")]
    with pytest.raises(BrokenPipeError):
        listener.client.stream(ASK, gone, max_tokens=7)
    assert len(server.requests) == 1


@pytest.mark.parametrize("chunk", [b"x" * 60_000, b"x\n" * 30_000, events(piece("word " * 20))[0] * 400])
def test_a_reply_without_an_end_is_read_up_to_a_limit(server, listener, monkeypatch, chunk):
    monkeypatch.setattr(limits, "LARGEST", 1 << 17)
    sent = []
    server.script = [streams(*([chunk] * 1000), after=sent.append)] * 5
    with pytest.raises(LLMError):
        listener.ask()
    assert max(sent) < 500  # the rest waits in the system's buffers


def slow_clock(monkeypatch):
    """A second passes each time that somebody looks at the clock."""
    monkeypatch.setattr(limits, "LONGEST", 30)
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=count().__next__))


@pytest.mark.parametrize("begun", [[], events(piece("Mara"))])
def test_a_server_that_gives_signs_of_life_for_ever_is_left(server, listener, monkeypatch, begun):
    slow_clock(monkeypatch)
    server.script = [streams(*begun, *([b": wait\n"] * 2000))]
    with pytest.raises(LLMError, match="did not end within 30 seconds") as caught:
        listener.ask()
    assert caught.value.kind == ("llm_broken" if begun else "llm_unreachable")
    assert (listener.waits, len(server.requests)) == ([], 1)


def test_a_whole_reply_that_never_ends_is_left(server, listener, monkeypatch):
    slow_clock(monkeypatch)
    server.script = [streams(*([b" "] * 2000))]
    with pytest.raises(LLMError, match="did not end within 30 seconds") as caught:
        listener.client.complete(ASK, max_tokens=7)
    assert (caught.value.kind, caught.value.retryable, listener.waits) == ("llm_unreachable", False, [])


def test_a_reply_of_endless_text_is_told_up_to_a_limit(server, listener, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_TEXT", 1000)
    server.script = [streams(*(events(piece("word " * 20)) * 100))]
    with pytest.raises(LLMError, match="more than 1,000 characters after") as caught:
        listener.ask()
    assert caught.value.kind == "llm_broken"
    assert 900 < len("".join(listener.pieces)) < 1200


def test_a_refusal_without_an_end_is_read_up_to_a_limit(server, listener, monkeypatch):
    monkeypatch.setattr(limits, "LARGEST_REFUSAL", 1000)
    server.script = [status(400, "x" * 5_000_000)]
    with pytest.raises(LLMError, match="400") as caught:
        listener.ask()
    assert len(caught.value.message) < 1000


def test_what_a_server_compresses_unasked_is_not_unpacked(server, listener):
    content = gzip.compress(json.dumps(completion("bomb")).encode())
    server.script = [lambda handler, body: handler.send(200, content, Content_Encoding="gzip")] * 5
    with pytest.raises(LLMError, match="sent no chat completion"):
        listener.ask()


@pytest.mark.parametrize("count", [-5, 10**30, True, 1.5, "12", None])
def test_a_count_of_tokens_that_is_none_is_ours(server, listener, count):
    usage = {**USAGE, "usage": {"prompt_tokens": 10, "completion_tokens": count}}
    server.script = [streams(*events(piece("fine"), ENDED, usage, "[DONE]"))]
    reply = listener.ask()
    assert reply.estimated
    assert 0 < reply.prompt_tokens < 100
