"""Transcripts searched unparsed, held to the same ones parsed."""

import json
import random
from collections import Counter
from dataclasses import replace

import pytest

from smartsearch import transcripts
from smartsearch.ask.door import Door
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.config import Config, build
from smartsearch.errors import InputError
from smartsearch.retrieve.fields import dates
from smartsearch.retrieve.grep import Haystack, by_match_weight, grep, merge
from smartsearch.retrieve.large import LargeHaystack
from smartsearch.retrieve.likely import likelihood
from smartsearch.systems.smartsearch import SmartSearch
from smartsearch.transcripts.filters import Filters
from smartsearch.types import Term
from tests.cli.fakes import fake_tools
from tests.conftest import search

WORDS = ("dog", "flute", "rain", "New York", "York", "garden", "Ilya", "name", "train", "Été", "straße")
TERMS = [
    Term("York", "PROPN", 4.0),
    Term("New York", "ENT", 4.0),
    Term("dog", "NOUN", 2.0),
    Term("name", "NOUN", 2.0),
    Term("été", "NOUN", 2.0),
    Term("STRASSE", "NOUN", 2.0),
    Term("rain", "VERB", 1.0),
]


def system():
    return SmartSearch(fake_tools(Config()))


def find(question, scope, config, opening, library, before=0, after=0):
    return Door(opening, library).find(Request(question, scope, config, before, after))


def ask(*given):
    return find(*given).result


def put(folder, rows):
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))


def unparsed(folder, rows):
    """These rows as a haystack of lines."""
    put(folder, rows)
    (part,) = transcripts.read_large([str(folder)]).parts
    return LargeHaystack([part])


def chat(path, seed, turns=150):
    rng = random.Random(seed)
    rows = []
    for n in range(turns):
        said = " ".join(rng.choices(WORDS, k=rng.randint(1, 5)))
        who = rng.choice(["Mara", "Ilya"])
        rows.append({"role": "user", "name": who, "content": said, "session_id": n // 40})
    path.write_text("\n".join(json.dumps(row, ensure_ascii=bool(seed % 2)) for row in rows))


@pytest.fixture
def folder(tmp_path):
    for seed in range(4):
        chat(tmp_path / f"{seed}.jsonl", seed)
    (tmp_path / "between.txt").write_text("Mara: the dog of York\nOle: no rain\nMara: Été\n")
    return tmp_path


@pytest.fixture
def large(folder):
    read = transcripts.read_large([str(folder)])
    parts = [Haystack(part) if not hasattr(part, "with_word") else part for part in read.parts]
    assert [isinstance(part, Haystack) for part in parts] == [False, True]
    return LargeHaystack(parts, read.skipped, read.warnings)


@pytest.fixture
def parsed(folder):
    return Haystack(transcripts.read([str(folder)]))


def test_turns_and_their_neighbours_are_those_of_the_parsed_corpus(large, parsed):
    assert list(large.corpus.turns) == list(parsed.corpus.turns)
    assert list(large.corpus.previous) == list(parsed.corpus.previous)
    assert large.corpus.turns[3:5] == tuple(parsed.corpus.turns[3:5])
    assert large.speakers == parsed.speakers


@pytest.mark.parametrize("word_boundary", [False, True])
def test_the_same_turns_contain_a_text(large, parsed, word_boundary):
    for text in ("dog", "York", "new york", "name", "ÉTÉ", "straße", "nowhere", " ", "user"):
        expected = parsed.turns_with(text, word_boundary=word_boundary)
        assert large.turns_with(text, word_boundary=word_boundary) == expected, text
        assert word_boundary or large.has(text) is bool(expected), text
    for mode, terms in (("or", TERMS), ("and", TERMS[2:4])):
        how = {"mode": mode, "word_boundary": word_boundary}
        assert large.searching(10_000)(terms, **how) == grep(parsed, terms, **how)


def test_terms_add_up_over_the_steps(large, parsed):
    search = large.searching(10_000)
    search(TERMS[:3])
    assert search(TERMS[3:]) == grep(parsed, TERMS)


def test_the_heaviest_are_exact_though_others_are_never_parsed(large, parsed):
    every = by_match_weight(grep(parsed, TERMS))
    search = large.searching(20)
    read = search(TERMS)
    found = by_match_weight(read)
    assert [c.weight for c in found[:20]] == [c.weight for c in every[:20]]
    assert len(found) < len(every) == len(found) + search.unread(read)
    weights = {candidate.index: candidate.weight for candidate in every}
    assert all(weights[candidate.index] == candidate.weight for candidate in found)


def test_the_likeliest_are_those_of_the_parsed_corpus(large, parsed):
    """Light, but rare: not among the heaviest, and read all the same, with the turns beside."""
    terms = [*TERMS, Term("no", "NOUN", 3.0)]
    every = grep(parsed, terms)
    counts = Counter(key for inside in every.values() for key in inside)
    expected = list(likelihood(by_match_weight(every), parsed.corpus, counts))[:5]
    search = large.searching(5)
    found = search(terms)
    rare = [index for index in expected if index not in found]
    merge(found, search.likeliest())
    known = list(likelihood(by_match_weight(found), large.corpus, search.counts))[:5]
    assert rare
    assert set(known) == set(expected)
    assert len(every) == len(found) + search.unread(found)


def test_the_questions_own_words_come_first_there_too(large, parsed):
    hops = [Term("a", "HOP", 2.5, 2), Term("e", "HOP", 2.5, 2), Term("o", "HOP", 2.5, 2)]
    expected = by_match_weight(grep(parsed, [*TERMS, *hops]), typed=True)
    search = large.searching(20, typed=True)
    search(TERMS)
    found = by_match_weight(search(hops), typed=True)
    assert [c.weight for c in found[:20]] == [c.weight for c in expected[:20]]
    assert expected != by_match_weight(grep(parsed, [*TERMS, *hops]))


def test_a_number_is_found_in_its_commonest_spellings(tmp_path):
    said = ["it was 44,000 a year", "or 44000", "not 4400"]
    hay = unparsed(tmp_path, [{"role": "user", "content": text} for text in said])
    assert list(hay.searching(10)([Term("44,000", "NUMBER", 2.0)])) == [0, 1]


def test_with_every_term_wanted_nothing_else_is_likely(large):
    search = large.searching(20)
    search(TERMS[2:4], mode="and")
    assert search.likeliest() == {}


def test_a_nul_in_a_turn_is_a_space(tmp_path):
    said = ["the dog\\u0000barks", "a \\\\\\u0000path", "written \\\\u0000 in full"]
    lines = ['{"role": "user", "content": "' + text + '"}' for text in said]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (part,) = transcripts.read_large([str(tmp_path)]).parts
    unparsed, parsed = LargeHaystack([part]), Haystack(transcripts.read([str(tmp_path)]))
    for term, turns in (("dog barks", [0]), ("\\ path", [1]), ("\\u0000", [2]), ("u0000", [2])):
        assert parsed.turns_with(term) == unparsed.turns_with(term) == turns


QUESTIONS = ("where is the dog in New York ?", "did Ilya rain ?", "a garden", "nothing like it")


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_the_same_whether_lines_are_parsed_or_not(folder, question):
    config = Config(pool=0, semantic="off", truncate="none")
    scope = Scope((str(folder),))
    answers = [ask(question, scope, config, system, Library(unparsed_above=above)) for above in (0, 1 << 40)]
    one, other = (replace(a, trace=replace(a.trace, timing_ms={})) for a in answers)
    assert one.hits == other.hits
    assert one.trace.candidates == other.trace.candidates
    assert len(one.hits) > 20 or question == QUESTIONS[-1]


def test_a_file_that_cannot_be_read_by_line_after_all_is_read_whole(folder):
    rows = [{"role": "user", "content": f"garden {n}"} for n in range(60)]
    rows.append({"messages": [{"role": "user", "content": "the hidden zither"}]})
    (folder / "mixed.jsonl").write_text("\n".join(map(json.dumps, rows)))
    library = Library(unparsed_above=0)
    scope = Scope((str(folder),))
    assert isinstance(library.haystack(scope), LargeHaystack)
    answer = ask("zither", scope, Config(semantic="off"), system, library)
    assert answer.hits[0].turn.text == "the hidden zither"
    assert not isinstance(library.haystack(scope), LargeHaystack)


def test_what_is_read_whole_is_so_under_every_filter(folder):
    """A haystack that was kept unparsed goes too, and one that is whole stays."""
    scopes = [Scope((str(folder),)), Scope((str(folder),), Filters(since="2000-01-01T00:00:00+00:00"))]
    library = Library(unparsed_above=0)
    assert all(isinstance(library.haystack(scope), LargeHaystack) for scope in scopes)
    for scope in scopes:
        library.read_whole(scope)
        whole = library.haystack(scope)
        assert not isinstance(whole, LargeHaystack)
        library.read_whole(scope)
        assert library.haystack(scope) is whole


def test_who_speaks_first_after_many_lines_is_known_as_a_speaker(tmp_path):
    """As when all is parsed: a speaker's name is no term of a hop."""
    rows = [{"role": "user", "name": "Ann", "content": f"said {n}"} for n in range(60)]
    put(tmp_path, [*rows, {"role": "user", "name": 'Zo\u00eb "Zed" Lee', "content": "the zither"}])
    parsed, large = both(Scope((str(tmp_path),)))
    assert parsed.speakers == large.speakers >= {"ann", "zoë", "lee"}


def test_a_term_that_no_line_holds_though_they_may_is_absent_and_finds_nothing(tmp_path):
    """`c` is on every line, `c++` on none; and with `and` a word that is there is not absent."""
    rows = [{"role": "user", "content": f"cat {n}"} for n in range(200)]
    search = unparsed(tmp_path, rows).searching(20)
    found = search([Term("C++", "CODE", 2.0)])
    assert (found, search.unread(found), dict(search.counts)) == ({}, 0, {"c++": 0})
    scope = Scope((str(tmp_path),))
    for above in (0, 1 << 40):
        answer = ask("cat unicorn", scope, Config(mode="and"), system, Library(unparsed_above=above))
        assert [term.text for term in answer.trace.absent] == ["unicorn"]


def test_of_turns_that_weigh_the_same_the_first_come_first_whatever_else_lines_hold(tmp_path):
    """The last 39 have the word in a field that no turn shows: those lines may weigh more, and do not."""
    rows = [{"role": "user", "content": "the dog"} | ({"tag": "cat"} if n > 360 else {}) for n in range(400)]
    found = unparsed(tmp_path, rows).searching(20)([Term("dog", "NOUN", 2.0), Term("cat", "NOUN", 2.0)])
    assert [c.index for c in by_match_weight(found)[:20]] == list(range(20))


def test_small_collections_and_other_formats_are_parsed(folder):
    for path, above in ((folder, 1 << 30), (folder / "between.txt", 0)):
        assert transcripts.read_large([str(path)], above=above) == transcripts.read([str(path)])
    assert not isinstance(Library().haystack(Scope((str(folder),))), LargeHaystack)


def test_a_line_beside_a_hit_that_does_not_stand_alone_makes_all_be_read_whole(tmp_path):
    """A whole conversation in the line after: nobody reads it until the turns around are wanted."""
    alone = [{"role": "user", "content": f"said {n}"} for n in range(30)]
    put(tmp_path, [*alone, {"role": "user", "content": "the telescope"}, {"messages": alone[:2]}])
    library, where, config = Library(unparsed_above=0), Scope((str(tmp_path),)), Config(rank=(), limit=1)
    found = find("telescope", where, config, system, library, 1, 1)
    assert [hit.turn.text for hit in found.result.hits] == ["the telescope"]
    assert [turn.text for turn in found.around[0].before] == ["said 29"]


NAMES = (["Mara", "Ilya Lee", "Ole"], ["user", "assistant"])


def talk(path, seed, turns=80):
    """Messages of three people and two roles over some months, some without a time, some without text."""
    rng = random.Random(seed)
    rows = []
    for n in range(turns):
        row = {"role": rng.choice(NAMES[1]), "name": rng.choice(NAMES[0]), "session_id": f"s{n // 20}"}
        row["content"] = " ".join(rng.choices(WORDS, k=rng.randint(0, 4)))
        day = f"2023-{rng.randint(3, 6):02}-{rng.randint(1, 31):02}"
        written = [f"{day}T10:00:00", day, f"{day} 23:30:00+00:00", "", None, 1683540000 + seed]
        row["timestamp"] = rng.choice(written)
        rows.append(json.dumps(row) if rng.random() > 0.05 else "{broken")
    path.write_text("\n".join([json.dumps({"role": "user", "content": "the start"}), *rows]))


FILTERS = (
    {"since": "2023-05-01T00:00:00+00:00"},
    {"since": "2023-04-10T00:00:00+00:00", "until": "2023-05-20T23:59:59+00:00", "role": ("assistant",)},
    {"only_speaker": ("lee",)},
    {"only_speaker": ("ole", "MARA"), "until": "2023-05-20T23:59:59+00:00"},
    {"conversation": ("A",), "session": ("s1",)},
    {"role": ("tool",)},
)


@pytest.fixture
def talks(tmp_path):
    talk(tmp_path / "a.jsonl", 1)
    talk(tmp_path / "b.jsonl", 2)
    said = "[2023-05-02 10:00] Mara: the dog of York\n[2023-05-02 10:01] Ole: no rain\n"
    (tmp_path / "c.txt").write_text(said)
    return tmp_path


def both(scope):
    return Library(unparsed_above=1 << 40).haystack(scope), Library(unparsed_above=0).haystack(scope)


@pytest.mark.parametrize("given", FILTERS)
def test_the_same_turns_pass_whether_lines_are_parsed_or_not(talks, given):
    parsed, large = both(Scope((str(talks),), filters=Filters(**given)))
    assert isinstance(large, LargeHaystack)
    assert not isinstance(parsed, LargeHaystack)

    def turns(haystack, indices):
        return [haystack.corpus.turns[index] for index in indices]

    assert turns(large, large.indices) == turns(parsed, parsed.indices)
    assert len(large) == len(parsed)
    for word in ("dog", "York", "user"):
        assert turns(large, large.turns_with(word)) == turns(parsed, parsed.turns_with(word))
    if "only_speaker" not in given:  # else the lines of others are not looked at, and not counted
        assert large.warnings == parsed.warnings


@pytest.mark.parametrize("given", FILTERS)
def test_an_answer_with_filters_a_date_and_a_preferred_speaker_is_the_same(talks, given):
    config = Config(pool=0, semantic="off", truncate="none", speaker=("mara",), fuzzy=False)
    question, scope = "Where was the dog in New York in 2023 ?", Scope((str(talks),), Filters(**given))
    answers = [ask(question, scope, config, system, Library(unparsed_above=above)) for above in (0, 1 << 40)]
    one, other = ([(hit.turn, hit.scores, set(hit.terms)) for hit in a.hits] for a in answers)
    assert one == other
    assert answers[0].filters == answers[1].filters
    assert one or given.get("role") == ("tool",)


def test_what_nothing_passes_is_said_alike_whether_lines_are_parsed_or_not(tmp_path):
    """Bob has no turn in s1: it is he who is unknown there, not the session."""
    said = [("s1", "Maya"), ("s1", "Jonas"), ("s2", "Bob"), ("s2", "Maya")]
    turn = {"role": "user", "content": "the dog"}
    put(tmp_path, [{**turn, "name": who, "session_id": when} for when, who in said])
    scope = Scope((str(tmp_path),), Filters(session=("s1",), only_speaker=("Bob",)))
    for above in (1 << 40, 0):
        with pytest.raises(InputError, match="no speaker 'Bob'") as caught:
            Library(unparsed_above=above).haystack(scope)
        assert caught.value.hint == "the closest are Maya, Jonas"
    parsed, large = both(Scope((str(tmp_path),), Filters(only_speaker=("Bob",), role=("tool",))))
    assert large.warnings == parsed.warnings == ("none of 4 turns passes the filters",)


def test_an_unknown_speaker_of_lines_is_an_error_with_the_nearest(talks):
    for name, hint in (("Maria", "the closest are Mara"), ("zither", "the closest are user, Ole, Ilya Lee")):
        with pytest.raises(InputError) as caught:
            Library(unparsed_above=0).haystack(Scope((str(talks),), filters=Filters(only_speaker=(name,))))
        assert caught.value.kind == "unknown_speaker"
        assert caught.value.hint == hint
    with pytest.raises(InputError) as caught:
        ask("dog", Scope((str(talks),)), Config(speaker=("Maria",)), system, Library(unparsed_above=0))
    assert caught.value.kind == "unknown_speaker"


def test_a_date_lifts_a_line_that_words_alone_would_leave_unread(tmp_path):
    """A thousand equal lines, twenty read: the only one of the day comes first."""
    times = [f"2022-01-01T{n % 24:02}:00:00" for n in range(200)]
    times[150] = "2023-05-08T10:00:00"
    rows = [{"role": "user", "content": "the dog", "time": time} for time in times]
    search = unparsed(tmp_path, rows).searching(20)
    search([Term("dog", "NOUN", 2.0)])
    found = search.beside(dates("on 8 May 2023", Config()))
    assert by_match_weight(found)[0].index == 150
    assert search.counts["2023-05-08"] >= 1


def test_turns_left_out_by_a_filter_are_still_the_context_of_others(talks):
    """As with grep: -C shows what was really said before and after."""
    scope = Scope((str(talks / "c.txt"),), filters=Filters(only_speaker=("Ole",)))
    found = find("rain", scope, Config(rank=()), system, Library(), 1, 1)
    assert [hit.turn.text for hit in found.result.hits] == ["no rain"]
    assert [turn.text for turn in found.around[0].before] == ["the dog of York"]
    put(talks, [{"role": "user", "name": a, "content": f"the dog {n}"} for n, a in enumerate("AABAB")])
    for above in (0, 1 << 40):
        scope = Scope((str(talks / "a.jsonl"),), filters=Filters(only_speaker=("b",)))
        found = find("dog", scope, Config(rank=()), system, Library(unparsed_above=above), 1, 1)
        assert [hit.turn.text for hit in found.result.hits] == ["the dog 2", "the dog 4"]
        around = [[[turn.text for turn in side] for side in (n.before, n.after)] for n in found.around]
        assert around == [[["the dog 1"], ["the dog 3"]], [["the dog 3"], []]]


@pytest.mark.parametrize("preset", ["paper", "index-free"])
def test_as_the_paper_every_turn_that_matches_is_ranked_unparsed_too(large, parsed, preset):
    """No share of the likeliest: with 20 as ColBERT's share, the same list comes out as of parsed turns."""
    config = build({"profile": "embedded", "truncate": "none"}, preset=preset, env={})
    config = replace(config, likely_turns=20, colbert_turns=20)
    question, tools = "Did Ilya see a dog in New York?", fake_tools(config)
    one, other = (search(question, hay, config, tools) for hay in (large, parsed))
    assert [hit.index for hit in one.hits] == [hit.index for hit in other.hits]
    assert one.trace.candidates == other.trace.candidates == len(one.hits) > 300
    assert one.trace.degraded == ()


def test_what_follows_a_turn_stands_behind_lines_without_one(tmp_path):
    """As in the parsed corpus, which has no such lines."""
    talk = (("A", "where?"), ("B", "here"))
    asks, says = (json.dumps({"role": "user", "name": who, "content": text}) for who, text in talk)
    (tmp_path / "a.jsonl").write_text(f"{asks}\n{{broken\n\n{says}\n")
    _, large = both(Scope((str(tmp_path),)))
    corpus = large.corpus
    asked, answered = (n for n, turn in enumerate(corpus.turns) if turn.text)
    assert (corpus.following(asked), corpus.previous[answered]) == (answered, asked)
    assert (corpus.following(answered), corpus.following(-1)) == (-1, -1)
