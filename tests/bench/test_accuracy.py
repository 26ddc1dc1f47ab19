"""Reader and judge over questions, end to end against a server on this machine."""

import re
from collections import Counter

import pytest

from smartsearch.bench.accuracy import (
    JUDGE,
    READER,
    Item,
    Usage,
    cost,
    estimate,
    measure,
    read_label,
)
from smartsearch.bench.types import BenchQuestion
from smartsearch.errors import UsageError
from smartsearch.llm import Client, Endpoint, Price, ReplyCache
from tests.llm_server import llm_server, says, status

KEY = "sk-very-secret-93"
GOLD = {"flute": "Mara", "tiles": "Lisbon", "dog": "a terrier", "organ": "in May"}
ANSWERS = {**GOLD, "dog": "a cat"}
"""What the scripted reader says: all right but one."""


def item(word: str, category: str = "4 single-hop", **more) -> Item:
    question = BenchQuestion(
        id=f"q-{word}", text=f"What of the {word}?", category=category, answer=GOLD.get(word, ""), **more
    )
    return Item(question, f"[2023-05-08] Mara: about the {word}")


ITEMS = [item("flute"), item("tiles", "1 multi-hop"), item("dog"), item("organ")]


def is_judge(body) -> bool:
    return "<reference>" in body["messages"][1]["content"]


def part(name: str, body) -> str:
    return re.search(rf"<{name}>\n(.*?)\n</{name}>", body["messages"][1]["content"], re.DOTALL)[1]


def endings(result) -> Counter:
    return Counter(one.ending for one in result.answerable)


def honest(body) -> str:
    """Answers from ANSWERS; judges by equality with the reference."""
    if is_judge(body):
        label = "CORRECT" if part("answer", body) == part("reference", body) else "WRONG"
        return f'{{"reason": "compared", "label": "{label}"}}'
    text = body["messages"][1]["content"]
    return next(answer for word, answer in ANSWERS.items() if f"the {word}?" in text)


@pytest.fixture(scope="module")
def servers():
    """A reader's server and another, for a judge."""
    with llm_server(honest) as one, llm_server(honest) as two:
        yield one, two


@pytest.fixture
def server(servers):
    return servers[0].reset()


@pytest.fixture
def other(servers):
    servers[1].reply = honest
    return servers[1].reset()


_clients: dict[str, Client] = {}


def client(server, cache: ReplyCache | None = None) -> Client:
    """One that tries twice and never sleeps. One a server is enough: only its cache is a test's own."""
    made = _clients.get(server.url)
    if made is None:
        endpoint = Endpoint(server.url, "tiny", KEY)
        made = Client(endpoint, retries=1, wait=lambda event, seconds: event.is_set(), count=len)
        _clients[server.url] = made
    made.cache = cache
    return made


def both(server, cache: ReplyCache | None = None) -> tuple[Client, Client]:
    """The same as reader and judge."""
    return client(server, cache), client(server, cache)


def test_without_a_judge_answers_are_compared_by_their_words_alone(server):
    result = measure(ITEMS, client(server), None, "memos")
    assert (endings(result), result.judge) == (Counter(unjudged=4), ())
    assert (result.usage[READER].calls, result.usage[JUDGE]) == (4, Usage())
    assert result.record(None)["overall"]["overlap"]["f1"] > 0
    foretold = estimate(ITEMS, len, "memos", judge=False)
    assert (foretold.calls, list(foretold.tokens)) == (4, [READER])


def test_a_run_from_end_to_end(server):
    steps = []
    result = measure(ITEMS, *both(server), "memos", jobs=2, step=lambda: steps.append(1))
    assert endings(result) == Counter(correct=3, wrong=1)
    assert result.record(None)["overall"]["accuracy"] == 0.75
    parts = result.record(None)["by_category"].items()
    told = {name: (part["correct"], part["wrong"], part["questions"]) for name, part in parts}
    assert told == {"1 multi-hop": (1, 0, 1), "4 single-hop": (2, 1, 3)}
    verdicts = {"q-flute": True, "q-tiles": True, "q-dog": False, "q-organ": True}
    assert [(o.id, o.verdict) for o in result.outcomes] == [*verdicts.items()]
    assert result.usage[READER] == result.usage[JUDGE] == Usage(4, 4, 0, 40, 8, 40, 8)
    assert (len(steps), result.stopped) == (4, None)
    assert result.reader == result.judge == ("tiny-2024",)
    sent = len(server.requests)
    for wrong in ({"protocol": "mem"}, {"jobs": 0}):
        with pytest.raises(UsageError):
            measure(ITEMS, *both(server), **{"protocol": "memos", **wrong})
    assert len(server.requests) == sent


@pytest.mark.parametrize(
    ("text", "finish", "answer", "wanted"),
    [
        (
            "1. Ask: who. Final answer: not yet\n7. Decide: her.\n\n**Final answer:** Mara",
            "stop",
            "Mara",
            Counter(correct=1),
        ),
        ("1. Ask\n7. Decide\nMara", "stop", "Mara", Counter(correct=1)),
        ("1. Ask\n2. Collect: Mara", "length", None, Counter(failed=1)),
        (None, "length", None, Counter(failed=1)),
        ("FINAL ANSWER: Mara", "stop", "Mara", Counter(correct=1)),
        ("final answer:\n- Mara\n- Ilya", "stop", "- Mara\n- Ilya", Counter(wrong=1)),
        ("steps\nFinal answer:", "stop", None, Counter(failed=1)),
    ],
)
def test_the_last_line_of_a_reply_is_the_answer_that_is_judged(server, text, finish, answer, wanted):
    server.script = [says(text, finish=finish)]
    result = measure([item("flute")], *both(server), "evermemos")
    assert endings(result) == wanted
    assert [part("answer", request) for request in server.requests[1:]] == [answer] * (answer is not None)


def test_an_unreadable_judge_is_asked_again_and_leaves_the_question_unjudged(server, other):
    last = says('```json\n{"label": "correct"}\n```')
    other.script = [says("I think it is right."), says('{"label": "MAYBE"}'), last]
    result = measure(ITEMS[:1], client(server), client(other), "memos")
    assert endings(result) == Counter(correct=1)
    assert [len(request["messages"]) for request in other.requests] == [2, 4, 6]
    assert other.requests[1]["messages"][2] == {"role": "assistant", "content": "I think it is right."}
    assert result.usage[JUDGE].calls == 3
    other.reset().reply = lambda body: "Hard to say."
    result = measure(ITEMS[:2], client(server), client(other), "memos")
    assert len(other.requests) == 6
    assert endings(result) == Counter(unjudged=2)
    assert result.record(None)["overall"]["accuracy"] is None
    assert [o.verdict for o in result.outcomes] == [None, None]


def test_abstention_is_judged_by_another_rule(server):
    server.script = [says("It is not mentioned."), says('{"label": "CORRECT"}')]
    result = measure([item("boat", abstention=True)], *both(server), "memos", jobs=1)
    record = result.record(None)
    counted = [record[name]["questions"] for name in ("overall", "abstention", "with_abstention")]
    assert (counted, record["by_category"]) == ([0, 1, 1], {})
    rule = server.requests[1]["messages"][0]["content"]
    assert "CORRECT if the answer says that the information is not there" in rule
    assert "abstention" not in measure(ITEMS[:1], *both(server), "memos").record(None)
    assert "WRONG if it contradicts the reference" in server.requests[-1]["messages"][0]["content"]


def test_one_failing_question_loses_no_other(server):
    server.script = [says(), says(), status(400, "context too long")]
    result = measure(ITEMS, *both(server), "memos", jobs=1)
    assert endings(result) == Counter(correct=2, wrong=1, failed=1)
    assert result.record(None)["overall"]["accuracy"] == pytest.approx(2 / 3)
    failed = result.outcomes[1]
    assert (failed.id, failed.verdict, failed.error.kind) == ("q-tiles", None, "llm_request")
    assert "context too long" in str(failed.error)


@pytest.mark.parametrize(("fault", "kind"), [(status(401), "llm_refused"), (status(503), "llm_unreachable")])
def test_a_dead_endpoint_stops_the_run_and_keeps_what_was_answered(server, tmp_path, fault, kind):
    cache = ReplyCache(tmp_path / "replies.db")
    many = [*(ITEMS[n] for n in (0, 1, 2, 0, 3, 1)), *(item("dog", f"{n}") for n in range(20))]
    many[6] = Item(ITEMS[2].question, "another context")
    taken = []

    def items():
        for one in many:
            taken.append(one)
            yield one

    server.script = [says()] * 4 + [fault] * 200
    result = measure(items(), *both(server, cache), "memos", jobs=1)
    assert result.stopped is not None
    assert result.stopped.kind == kind
    # Two are answered; then three fail, and two known from the cache in between are no sign of life.
    assert endings(result) == Counter(correct=4, failed=3)
    assert len(taken) == 7
    server.script.clear()
    again = measure(ITEMS, *both(server, cache), "memos", jobs=1)
    assert endings(again) == Counter(correct=3, wrong=1)
    assert (again.usage[READER].new_calls, again.usage[JUDGE].new_calls) == (2, 2)


def test_cost_by_hand():
    """Reader 2 M in at 0.15 and 0.5 M out at 0.60; judge 1 M in at 2 and 0.1 M out at 8; half new."""
    usage = {
        READER: Usage(4, 2, 0, 2_000_000, 500_000, 1_000_000, 250_000),
        JUDGE: Usage(4, 2, 0, 1_000_000, 100_000, 500_000, 50_000),
    }
    prices = {READER: Price(0.15, 0.60), JUDGE: Price(2.0, 8.0)}
    assert cost(usage, prices) == {"total": pytest.approx(0.30 + 0.30 + 2.0 + 0.8), "new": pytest.approx(1.7)}


def test_the_estimate_by_hand():
    """Counting 1 token a message: a call reads 2. Two questions."""
    prices = {READER: Price(1.0, 10.0), JUDGE: Price(2.0, 20.0)}
    told = estimate(ITEMS[:2], lambda text: 1, "evermemos", prices)
    assert (told.questions, told.calls) == (2, 4)
    assert told.tokens == {READER: (4, 800), JUDGE: (4 + 24, 80)}
    assert told.cost == pytest.approx((4 + 8000 + 2 * 28 + 20 * 80) / 1e6)
    assert told.cost_limit == pytest.approx((4 + 40_960 + 2 * (4 + 2 * 2048) + 20 * 2 * 512) / 1e6)
    free = estimate(ITEMS[:2], lambda text: 1, "memos")
    assert (free.calls, free.cost, free.cost_limit) == (4, None, None)
    assert free.tokens == {READER: (4, 24), JUDGE: (4 + 24, 80)}


@pytest.mark.parametrize(
    ("text", "vote"),
    [
        ('{"label": "CORRECT"}', True),
        ('Let me see {1}. {"reason": "off by a year", "label": "Wrong "} Done.', False),
        ('{"result": {"label": "WRONG"}}', False),
        ('{"label": "WRONG"} no: {"label": "CORRECT"}', True),
        ('{"label": "CORRECT"', None),
        ("CORRECT", None),
        ('{"label": true}', None),
        ('{"label": "NOT CORRECT"}', None),
        ("", None),
    ],
)
def test_labels(text, vote):
    assert read_label(text) == vote
