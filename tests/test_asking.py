"""What systems ask of a model, against a server here that answers by rule: JSON, doubt, many at once."""

import json
import math
import threading
import time

import pytest
from pydantic import BaseModel

from smartsearch import llm
from smartsearch.config import Config
from smartsearch.errors import UsageError
from smartsearch.llm import Asker, Client, Endpoint, LLMError, ReplyCache, Spent, reader_endpoint
from smartsearch.llm.entropy import answer_entropy, token_entropy
from tests.llm_server import half, hangs, llm_server, raw, said, says, shape, status
from tests.waiting import HANG

ASK = [{"role": "system", "content": "Take notes."}, {"role": "user", "content": "Ann has a dog."}]


class Note(BaseModel):
    who: str
    age: int = 0


GOOD = '{"who": "Ann", "age": 3}'


@pytest.fixture
def server(running):
    running.reply = lambda body: GOOD if shape(body) else "fine"
    return running.reset()


@pytest.fixture
def asker(server):
    client = Client(Endpoint(server.url, "tiny"), retries=1, wait=lambda event, _s: event.is_set())
    yield Asker(client)
    client.close()


def test_json_is_asked_for_by_its_schema_in_the_request_and_in_the_prompt(server, asker):
    assert asker.parsed(ASK, Note, max_tokens=50) == Note(who="Ann", age=3)
    (sent,) = server.requests
    schema = Note.model_json_schema()
    asked = {"name": "Note", "schema": schema}
    assert sent["response_format"] == {"type": "json_schema", "json_schema": asked}
    assert json.dumps(schema, separators=(",", ":")) in sent["messages"][0]["content"]
    assert (sent["temperature"], sent["messages"][1]) == (0.0, ASK[1])
    assert asker.spent == Spent(1, 0, 10, 2)


@pytest.mark.parametrize(
    "reply",
    [
        *(f"```json\n{GOOD}\n```", f"Here you are:\n{GOOD}\nAnything else?", "{'who': 'Ann', 'age': 3,}"),
        *('{"who": "Ann", "age": 3', '{who: "Ann", "age": "3"}', f"<think>{{}}</think>{GOOD}"),
    ],
)
def test_json_that_is_nearly_right_is_repaired(server, asker, reply):
    server.script = [says(reply)]
    assert asker.parsed(ASK, Note, max_tokens=50) == Note(who="Ann", age=3)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (says("I cannot help with that."), "it holds no JSON"),
        (says('{"age": 3}'), "who: Field required"),
        (says('{"who": "Ann", "age": "old"}'), "age: Input should be a valid integer"),
        (says('{"who": "Ann", "ag', finish="length"), "cut at 50 tokens"),
        (says(GOOD, finish="length"), "cut at 50 tokens"),
        (says(None), "empty or withheld"),
        (says("no", finish="content_filter"), "empty or withheld"),
    ],
)
def test_a_reply_of_no_use_is_asked_for_again_with_what_was_wrong(server, asker, reply, told):
    server.script = [reply]
    assert asker.parsed(ASK, Note, max_tokens=50).who == "Ann"
    first, second = server.requests
    assert (first["temperature"], second["temperature"]) == (0.0, 0.2)
    assert told in second["messages"][-1]["content"]
    assert asker.spent.calls == 2


def test_what_the_check_says_is_told_and_after_four_more_tries_it_is_an_error(server, asker):
    with pytest.raises(LLMError, match="no usable Note in 5 tries: Ann is too young") as caught:
        asker.parsed(ASK, Note, max_tokens=50, check=lambda note: f"{note.who} is too young")
    assert (caught.value.kind, caught.value.general) == ("llm_json", False)
    assert [body["temperature"] for body in server.requests] == [0.0, 0.2, 0.4, 0.6, 0.8]
    assert [message["content"] for message in server.requests[-1]["messages"][2:3]] == [GOOD]
    assert "too young" in said(server.requests[-1])
    assert asker.spent == Spent(5, 0, 50, 10)


@pytest.mark.parametrize("fault", [status(429), status(503), half, hangs, raw('{"choices": [')])
def test_what_passes_is_survived(server, asker, fault):
    if fault is hangs:
        client = Client(Endpoint(server.url, "tiny"), retries=9, timeout=0.2, wait=lambda event, _s: False)
        asker = Asker(client)
    server.script = [fault]
    assert asker.parsed(ASK, Note, max_tokens=50).who == "Ann"


@pytest.mark.parametrize(
    "refusal",
    [
        status(400, "Unknown parameter", error={"param": "response_format"}),
        status(400, "This response_format type is unavailable now"),
        status(422, "json_schema is not supported"),
        status(500, "failed to parse grammar"),
    ],
)
def test_a_server_without_schemas_is_asked_without(server, asker, refusal):
    server.reply = lambda body: GOOD
    server.script = [refusal]
    assert asker.parsed(ASK, Note, max_tokens=50).who == "Ann"
    assert [bool(shape(body)) for body in server.requests] == [True, False]
    assert asker.parsed(ASK, Note, max_tokens=51).who == "Ann"
    assert not shape(server.requests[-1])


def test_entropy_by_hand():
    def logprobs(*tokens):
        return {"content": [{"top_logprobs": [{"logprob": math.log(p)} for p in ps]} for ps in tokens]}

    assert token_entropy(logprobs([1.0])) == 0.0
    assert token_entropy(logprobs([0.5, 0.5])) == pytest.approx(math.log(2))
    assert token_entropy(logprobs([0.5])) == pytest.approx(math.log(2))  # the rest is a token too
    assert token_entropy(logprobs([1.0], [0.25, 0.25, 0.25, 0.25])) == pytest.approx(math.log(4) / 2)
    for nothing in (None, {}, {"content": []}, {"content": None}, {"content": [{"top_logprobs": []}]}, "no"):
        assert token_entropy(nothing) is None
    assert answer_entropy(["Yes.", "yes", " YES!", "yes", "yes"]) == 0.0
    assert answer_entropy(list("abcde")) == pytest.approx(1.0)
    assert answer_entropy(["a", "a", "b", "b"]) == pytest.approx(0.5)


def test_doubt_by_log_probabilities(server, asker):
    server.reply = lambda body: says("a dog", shares=[[0.5, 0.5], [1.0]])
    found = asker.uncertainty(ASK)
    assert (found.by, found.tokens) == ("logprobs", 2)
    assert found.value == pytest.approx(math.log(2) / 2)
    (sent,) = server.requests
    assert (sent["logprobs"], sent["top_logprobs"], sent["max_tokens"]) == (True, 20, 16)


@pytest.mark.parametrize("refusal", [None, status(400, "logprobs are not supported")])
def test_doubt_by_samples_where_there_are_no_log_probabilities(server, asker, refusal):
    server.reply = lambda body: "a dog" if body.get("seed", 0) < 3 else "a cat"
    server.script = [refusal] if refusal else []
    found = asker.uncertainty(ASK)
    assert (found.by, found.tokens) == ("samples", 10)
    assert found.value == pytest.approx(-(0.6 * math.log(0.6) + 0.4 * math.log(0.4)) / math.log(5))
    before = len(server.requests)
    asker.uncertainty(ASK)
    assert [body["temperature"] for body in server.requests[before:]] == [0.7] * 5


def test_a_model_that_says_nothing_has_no_doubt_to_measure(server, asker):
    server.reply = lambda body: says("<think>well, ", finish="length", shares=[[0.5]])
    with pytest.raises(LLMError, match="said nothing in 16 tokens") as caught:
        asker.uncertainty(ASK)
    assert caught.value.kind == "llm_reply"


def asked(asker, *names):
    jobs = [
        lambda name=name: asker.reply([{"role": "user", "content": name}], max_tokens=9).text
        for name in names
    ]
    return asker.each(jobs)


def test_many_at_once_in_order_and_one_failure_loses_no_other(server):
    lock, both, now, most = threading.Lock(), threading.Event(), [0], [0]

    def rule(body):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            if now[0] == 2:
                both.set()
        assert both.wait(HANG)
        time.sleep(0.02)  # in which a third could come
        with lock:
            now[0] -= 1
        name = said(body)
        return status(400, "too long") if name == "c" else name.upper()

    server.reply = rule
    one, two, three, *rest = asked(Asker(Client(Endpoint(server.url, "tiny")), at_once=2), *"abcdefg")
    assert (one, two, rest) == ("A", "B", list("DEFG"))
    assert three.kind == "llm_request"
    assert most == [2]


@pytest.mark.parametrize("kind", ["llm_refused", "llm_not_found"])
def test_what_every_job_would_meet_ends_them_all(server, kind):
    server.reply = lambda body: status(401 if kind == "llm_refused" else 404)
    asker = Asker(Client(Endpoint(server.url, "tiny")), at_once=2)
    with pytest.raises(LLMError) as caught:
        asked(asker, *"abcdefghij")
    assert caught.value.kind == kind
    assert len(server.requests) <= 2
    server.reply = lambda body: "there again"
    assert asked(asker, "a") == ["there again"]


def test_a_server_that_is_not_there_ends_them_all_and_one_that_is_slow_does_not(server):
    server.reply = lambda body: hangs if said(body) == "b" else "fine"
    slow = Asker(Client(Endpoint(server.url, "tiny"), retries=0, timeout=1.0))
    one, two, three = asked(slow, *"abc")
    assert (one, two.silent, two.general, three) == ("fine", True, False, "fine")
    with llm_server() as gone:
        url = gone.url
    absent = Asker(Client(Endpoint(url, "tiny"), retries=0))
    with pytest.raises(LLMError, match="cannot be reached") as caught:
        asked(absent, *"abc")
    assert caught.value.general


def test_kept_replies_are_all_there_is_offline(server, tmp_path):
    env = {"SMARTSEARCH_LLM_BASE_URL": server.url, "SMARTSEARCH_LLM_MODEL": "tiny"}
    server.script = [says(None), says("no json"), says("x", shares=[[0.5]])]
    first = Asker(Client(reader_endpoint(env), ReplyCache(tmp_path / "kept.sqlite")))
    took = first.parsed(ASK, Note, max_tokens=50), first.uncertainty(ASK)
    sent, server.requests = len(server.requests), []
    endpoint = reader_endpoint(env | {"SMARTSEARCH_LLM_OFFLINE": "1"})
    again = Asker(Client(endpoint, ReplyCache(tmp_path / "kept.sqlite")))
    assert (again.parsed(ASK, Note, max_tokens=50), again.uncertainty(ASK)) == took
    assert again.spent == Spent(sent, sent, first.spent.prompt_tokens, first.spent.completion_tokens)
    with pytest.raises(LLMError) as caught:
        again.reply(ASK, max_tokens=51)
    assert (caught.value.kind, caught.value.general, server.requests) == ("llm_offline", True, [])


def test_of_two_moments_the_difference_is_what_was_spent_between():
    before, after = Spent(2, 1, 30, 4), Spent(5, 1, 70, 9, 1)
    assert after - before == Spent(3, 0, 40, 5, 1)
    assert (after - before) + before == after
    assert (after.cost.model_calls, after.cost.tokens_in, after.cost.tokens_out) == (5, 70, 9)


def test_nothing_leaves_this_machine_that_nobody_agreed_to():
    away = Asker(Client(Endpoint("http://api.example.com/v1", "tiny", "key")))
    with pytest.raises(UsageError, match="no user agreed") as caught:
        asked(away, "a")
    assert (caught.value.kind, away.spent) == ("not_sent", Spent())


def test_the_asker_of_a_config(server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("SMARTSEARCH_LLM_BASE_URL", server.url)
    monkeypatch.setenv("SMARTSEARCH_LLM_MODEL", "tiny")
    made = llm.asker(Config(redact=True))
    made.reply([{"role": "user", "content": "my password is hunter2-Kolibri"}], max_tokens=9)
    assert "hunter2" not in said(server.requests[0])
    assert "[redacted: password]" in said(server.requests[0])
    kept = tmp_path / "smartsearch/llm/replies"
    assert kept.stat().st_mode & 0o777 == 0o700
    assert (kept / "replies.sqlite").exists()
    monkeypatch.setenv("SMARTSEARCH_LLM_BASE_URL", "http://api.example.com/v1")
    monkeypatch.setenv("SMARTSEARCH_LLM_KEY", "key")
    assert not llm.asker(Config()).allowed
    assert llm.asker(Config(trusted_hosts=("API.example.com",))).allowed
    assert llm.asker(Config(cache=False)).client.cache is None


def test_a_server_that_fails_again_and_again_counts_as_gone(server, asker):
    server.reply = lambda body: status(503)
    with pytest.raises(LLMError, match="503") as caught:
        asked(asker, *map(str, range(99)))
    assert (caught.value.kind, caught.value.general) == ("llm_unreachable", True)
    assert 8 * 2 <= len(server.requests) <= 12 * 2
    server.reply = lambda body: status(503) if int(said(body)) % 2 else "fine"
    assert asked(asker, "100") == ["fine"]  # ends the row, whichever of the next four is answered first
    assert len(asked(asker, *map(str, range(40)))) == 40


def test_an_interruption_does_not_wait_for_replies_on_their_way():
    ended = []

    def interrupted():
        raise KeyboardInterrupt

    def waits():
        try:
            return asker.reply(ASK, max_tokens=9).text
        finally:
            ended.append(1)

    with llm_server(lambda body: hangs) as server:
        asker = Asker(Client(Endpoint(server.url, "tiny"), timeout=HANG, retries=0), at_once=2)
        with pytest.raises(KeyboardInterrupt):
            asker.each([interrupted, *[waits] * 9])
        assert not ended
