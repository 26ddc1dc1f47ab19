"""The chat-completions client against a server on this machine: each fault, the cache, the settings."""

import threading
import traceback
from dataclasses import replace
from datetime import datetime

import pytest

from smartsearch.errors import InputError
from smartsearch.llm import (
    Client,
    Endpoint,
    LLMError,
    ReplyCache,
    judge_endpoint,
    memory_endpoint,
    reader_endpoint,
    refusals,
)
from tests.llm_server import half, llm_server, raw, says, status

KEY = "sk-very-secret-93"
ASK = [{"role": "user", "content": "Who plays the flute?"}]


@pytest.fixture(scope="module")
def shared(running):
    """A client that keeps nothing and never sleeps, and the list it notes its waits in."""
    noted = []

    def wait(event, seconds):
        noted.append(seconds)
        return event.is_set()

    made = Client(Endpoint(running.url, "tiny", KEY), wait=wait)
    yield made, noted
    made.close()


@pytest.fixture
def client(shared):
    made, noted = shared
    noted.clear()
    return made


@pytest.fixture
def waits(shared):
    return shared[1]


def test_a_reply_with_its_tokens(server, client):
    reply = client.complete(ASK, max_tokens=7, more={"seed": 3})
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens) == ("fine", 10, 2)
    assert (reply.model, reply.cached, reply.estimated) == ("tiny-2024", False, False)
    sent = {"model": "tiny", "messages": ASK, "max_tokens": 7, "temperature": 0.0, "seed": 3}
    assert server.requests == [sent]
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("fault", "waited"),
    [
        (status(429, Retry_After="7"), [7.0]),
        (status(429), [1.0]),
        (status(500), [1.0]),
        (status(503, Retry_After="2.5"), [2.5]),
        (half, [1.0]),
        (raw('{"choices": [{"message": {"con'), [1.0]),
        (raw('{"choices": []}'), [1.0]),
        (raw('{"error": {"message": "overloaded"}}'), [1.0]),
        (raw("[1]"), [1.0]),
        (raw("<html>not here</html>"), [1.0]),
    ],
)
def test_what_may_pass_is_tried_again(server, client, waits, fault, waited):
    server.script = [fault]
    assert client.complete(ASK, max_tokens=7).text == "fine"
    assert waits == waited
    assert len(server.requests) == 2


def test_waits_double_and_end(server, client, waits):
    server.script = [status(502, "bad gateway")] * 9
    with pytest.raises(LLMError, match=r"502: bad gateway.*5 tries") as caught:
        client.complete(ASK, max_tokens=7)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(server.requests) == 5
    assert (caught.value.kind, caught.value.retryable) == ("llm_unreachable", True)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (status(401, f"Incorrect API key provided: {KEY}"), "llm_refused"),
        (status(403, f"{KEY} may not use this model"), "llm_refused"),
        (status(403, "x" * 190 + KEY), "llm_refused"),
        (status(429, "pay first", error={"code": "insufficient_quota"}), "llm_refused"),
        (status(404, f"no model, {KEY}"), "llm_not_found"),
        (status(400, f"context too long, {KEY}"), "llm_request"),
    ],
)
def test_what_will_not_pass_is_not_tried_again_and_shows_no_key(server, client, waits, fault, kind):
    server.script = [fault]
    with pytest.raises(LLMError) as caught:
        client.complete(ASK, max_tokens=7)
    assert (caught.value.kind, caught.value.retryable, waits) == (kind, False, [])
    assert len(server.requests) == 1
    shown = "".join(traceback.format_exception(caught.value)) + caught.value.hint + repr(vars(client))
    assert KEY[:9] not in shown


def test_a_server_that_is_not_there():
    with llm_server() as server:
        url = server.url
    waited = []
    client = Client(
        Endpoint(url, "tiny", KEY), retries=1, wait=lambda event, seconds: bool(waited.append(seconds))
    )
    with pytest.raises(LLMError) as caught:
        client.complete(ASK, max_tokens=7)
    assert (caught.value.kind, caught.value.retryable, waited) == ("llm_unreachable", True, [1.0])
    assert url in str(caught.value)
    assert "SMARTSEARCH_LLM_BASE_URL" in caught.value.hint


def test_a_stop_ends_the_waiting_and_sends_nothing_more(server, client, waits):
    stop = threading.Event()
    server.script = [lambda handler, body: (stop.set(), status(500)(handler, body))]
    with pytest.raises(LLMError, match="500"):
        client.complete(ASK, max_tokens=7, stop=stop)
    with pytest.raises(LLMError) as caught:
        client.complete(ASK, max_tokens=8, stop=stop)
    assert caught.value.kind == "llm_stopped"
    assert len(server.requests) == 1


def test_parameters_a_model_turns_down_are_left_out_from_then_on(server):
    """As OpenAI's reasoning models do."""
    server.script = [
        status(400, error={"param": "max_tokens", "code": "unsupported_parameter"}),
        status(400, error={"param": "temperature", "code": "unsupported_value"}),
    ]
    client = Client(Endpoint(server.url, "tiny"))
    for _ in range(2):
        assert client.complete(ASK, max_tokens=7).text == "fine"
    assert client.unsupported == ("max_tokens", "temperature")
    assert len(server.requests) == 4
    assert server.requests[3] == {"model": "tiny", "messages": ASK, "max_completion_tokens": 7}


def test_tokens_are_counted_here_when_the_server_does_not(server):
    server.script = [says("one two three", usage=False)]
    client = Client(Endpoint(server.url, "tiny"), count=lambda text: len(text.split()))
    reply = client.complete(ASK, max_tokens=7)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.estimated) == (4, 3, True)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>\nPetra?\n</think>\n\nMara", "Mara"),
        ("Petra?</think>Mara", "Mara"),
        ("<think> and it never ended", ""),
        (None, ""),
    ],
)
def test_thinking_is_no_part_of_the_reply(server, client, text, kept):
    server.script = [says(text)]
    assert client.complete(ASK, max_tokens=7).text == kept


def test_half_an_emoji_either_way(server, client, tmp_path):
    server.script = [raw('{"choices": [{"message": {"content": "so \\ud83d"}}]}')]
    cached = Client(client.endpoint, ReplyCache(tmp_path / "replies.db"))
    messages = [{"role": "user", "content": "why \ud83d"}]
    assert cached.complete(messages, max_tokens=7).text == "so ?"
    assert cached.complete(messages, max_tokens=7).cached


def test_a_kept_reply_is_not_asked_for_again(server, tmp_path):
    path = tmp_path / "kept" / "replies.db"
    first = Client(Endpoint(server.url, "tiny", KEY), ReplyCache(path)).complete(ASK, max_tokens=7)
    cache = ReplyCache(path)
    again = Client(Endpoint(server.url + "/", "tiny", "another-key"), cache)
    reply = again.complete(ASK, max_tokens=7)
    assert len(server.requests) == 1
    assert (reply.cached, reply.text, reply.prompt_tokens, reply.model) == (True, "fine", 10, "tiny-2024")
    assert first.cached is False
    again.complete(ASK, max_tokens=8)
    again.complete(ASK, max_tokens=7, temperature=0.5)
    again.complete(ASK, max_tokens=7, more={"seed": 1})
    again.complete([*ASK, *ASK], max_tokens=7)
    Client(Endpoint(server.url, "other", KEY), cache).complete(ASK, max_tokens=7)
    assert len(server.requests) == 6
    cache.close()
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"fine" in kept
    assert KEY.encode() not in kept


def test_failures_and_empty_replies_are_asked_for_again(server, tmp_path):
    client = Client(Endpoint(server.url, "tiny"), ReplyCache(tmp_path / "replies.db"), retries=0)
    server.script = [status(500), says(None, finish="length"), says("at last")]
    with pytest.raises(LLMError):
        client.complete(ASK, max_tokens=7)
    empty = client.complete(ASK, max_tokens=7)
    assert (empty.text, empty.finish) == ("", "length")
    assert client.complete(ASK, max_tokens=7).text == "at last"


def test_a_file_that_is_no_cache(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("the flute is in the kitchen, " * 99)
    with pytest.raises(InputError, match=r"notes\.txt cannot be used") as caught:
        ReplyCache(path)
    assert caught.value.kind == "store"


def test_a_wait_may_be_a_date_and_one_of_an_hour_is_not_waited(server, client, waits, monkeypatch):
    class Clock(datetime):
        @classmethod
        def now(cls, zone):
            return cls(2024, 5, 1, 10, tzinfo=zone)

    monkeypatch.setattr(refusals, "datetime", Clock)
    half_a_minute = "Wed, 01 May 2024 10:00:30 GMT"
    server.script = [status(429, Retry_After=half_a_minute), status(429, Retry_After="3600")]
    with pytest.raises(LLMError, match="asks to wait 3600 seconds") as caught:
        client.complete(ASK, max_tokens=7)
    assert caught.value.kind == "llm_busy"
    assert waits == [30.0]


OWN = {"SMARTSEARCH_LLM_BASE_URL": "https://llm.test/v1", "SMARTSEARCH_LLM_KEY": f"{KEY}\n"}
LOCAL = {"SMARTSEARCH_LLM_BASE_URL": "http://localhost:8000/v1", "OPENAI_API_KEY": KEY}
PROXY = {"OPENAI_BASE_URL": "https://proxy.test/v1", "OPENAI_API_KEY": KEY}


@pytest.mark.parametrize(
    ("env", "url", "key"),
    [
        (OWN, "https://llm.test/v1", KEY),
        ({"OPENAI_API_KEY": KEY}, "https://api.openai.com/v1", KEY),
        (PROXY, "https://proxy.test/v1", KEY),
        (LOCAL, "http://localhost:8000/v1", ""),
    ],
)
def test_settings_of_the_reader_fall_back_to_openai_whose_key_goes_nowhere_else(env, url, key):
    found = reader_endpoint({**env, "SMARTSEARCH_LLM_MODEL": "m"})
    assert found == Endpoint(url, "m", key)
    assert KEY not in repr(found)
    assert reader_endpoint(env, "other").model == "other"


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({}, "SMARTSEARCH_LLM_MODEL and SMARTSEARCH_LLM_KEY"),
        ({"OPENAI_API_KEY": KEY}, "SMARTSEARCH_LLM_MODEL"),
        ({"OPENAI_API_KEY": KEY, "SMARTSEARCH_LLM_BASE_URL": "https://llm.test/v1"}, "SMARTSEARCH_LLM_KEY"),
        ({"SMARTSEARCH_LLM_BASE_URL": "http://localhost:1/v1"}, "SMARTSEARCH_LLM_MODEL"),
        ({"SMARTSEARCH_LLM_BASE_URL": "localhost:8000", "SMARTSEARCH_LLM_MODEL": "m"}, "BASE_URL"),
        ({"SMARTSEARCH_LLM_BASE_URL": "http://h:x/v1", "SMARTSEARCH_LLM_MODEL": "m"}, "BASE_URL"),
        ({"SMARTSEARCH_LLM_KEY": f"{KEY} {KEY}", "SMARTSEARCH_LLM_MODEL": "m"}, "SMARTSEARCH_LLM_KEY"),
        ({"SMARTSEARCH_LLM_KEY": f"“{KEY}”", "SMARTSEARCH_LLM_MODEL": "m"}, "SMARTSEARCH_LLM_KEY"),
    ],
)
def test_a_missing_setting_is_named(env, named):
    with pytest.raises(LLMError) as caught:
        reader_endpoint(env)
    assert caught.value.kind == "llm_missing"
    assert named in str(caught.value)
    assert KEY not in str(caught.value) + caught.value.hint


def test_settings_of_the_judge_are_the_readers_where_unset():
    reader = Endpoint("https://llm.test/v1", "m", KEY)
    assert judge_endpoint(reader, {}) == Endpoint("https://llm.test/v1", "m", KEY, "SMARTSEARCH_JUDGE")
    assert judge_endpoint(reader, {"SMARTSEARCH_JUDGE_MODEL": "big"}).model == "big"
    elsewhere = {"SMARTSEARCH_JUDGE_BASE_URL": "https://judge.test/v1"}
    with pytest.raises(LLMError, match="SMARTSEARCH_JUDGE_KEY"):
        judge_endpoint(reader, elsewhere)
    assert judge_endpoint(reader, {**elsewhere, "SMARTSEARCH_JUDGE_KEY": "k"}).key == "k"


def test_the_memory_s_model_is_the_readers_unless_it_has_a_server_whose_key_is_its_own():
    reader = {**OWN, "SMARTSEARCH_LLM_MODEL": "strong", "SMARTSEARCH_LLM_PRICE": "1/2"}
    assert memory_endpoint(reader) == reader_endpoint(reader)
    assert memory_endpoint(reader, "light") == replace(reader_endpoint(reader), model="light")
    there = {**reader, "SMARTSEARCH_MEMORY_BASE_URL": "https://memory.test/v1"}
    with pytest.raises(LLMError, match="SMARTSEARCH_MEMORY_MODEL and SMARTSEARCH_MEMORY_KEY"):
        memory_endpoint(there)
    found = memory_endpoint({**there, "SMARTSEARCH_MEMORY_KEY": "k"}, "light")
    assert (found.host, found.model, found.key, found.price) == ("memory.test", "light", "k", None)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://localhost:11434/v1", "this machine"),
        ("http://127.8.0.1/v1", "this machine"),
        ("http://[::1]:8080/v1", "this machine"),
        ("http://[::ffff:127.0.0.1]/v1", "this machine"),
        ("http://0.0.0.0:8000/v1", "this machine"),
        ("http://192.168.1.7:8000/v1", "your network"),
        ("http://[fd00::7]/v1", "your network"),
        ("http://100.64.0.7/v1", "your network"),
        ("http://gpu-box:8000/v1", "your network"),
        ("http://gpu.home.arpa/v1", "your network"),
        ("http://host.docker.internal/v1", "your network"),
        ("https://api.example.com/v1", ""),
        ("https://localhost.example.com/v1", ""),
        ("https://127.0.0.1.example.com/v1", ""),
        ("https://ann@8.8.8.8/v1", ""),
        ("https://[::ffff:8.8.8.8]/v1", ""),
        ("http://134744072/v1", ""),
        ("http://0x08080808/v1", ""),
        ("https://localhost@api.example.com/v1", ""),
    ],
)
def test_where_an_endpoint_is(url, place):
    assert Endpoint(url, "m").place == place


def test_a_password_in_the_address_is_not_shown():
    assert Endpoint("https://ann:pw@llm.test:8/v1/?api-key=pw", "m").url == "https://llm.test:8/v1"
