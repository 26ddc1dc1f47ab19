"""Tiny training sources in the formats as published, written by hand."""

import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_scipy = pytest.mark.skipif(find_spec("scipy") is None, reason="needs scipy, of the train extra")


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _friendsqa(folder: Path) -> None:
    said = [
        ("Ada Stone", "I bought a red kite yesterday ."),
        ("Bo Reed", "Nice ! What do you do at the pier ?"),
        ("Ada Stone", "I sell pancakes at the pier with Bo ."),
        ("Bo Reed", "Pancakes again ?"),
        ("Ada Stone", "Every single morning ."),
        ("Bo Reed", "My kite is blue and torn ."),
    ]
    utterances = [{"speakers": [who], "utterance": text} for who, text in said]
    answers = [{"answer_text": "a red kite", "utterance_id": 0}]
    paragraph = {"utterances:": utterances, "qas": [{"question": "What did Ada buy ?", "answers": answers}]}
    scene = {"title": "s01_e01_c01", "paragraphs": [paragraph]}
    _write(folder / "friendsqa" / "dat" / "friendsqa_dev.json", {"data": [scene]})


def _realmem(folder: Path) -> None:
    turns = [
        *("Hello there, can you help me plan?", "Of course, what is on your mind?"),
        *("I moved to Lyon in May and I need a bakery.", "Lyon has many bakeries."),
        *("I also have a cat named Pip.", "Cats love Lyon."),
    ]
    memory = {"content": "【Home】 The user moved to Lyon in May.", "source_content_snapshot": turns[2]}
    said = [{"speaker": "Assistant" if i % 2 else "User", "content": text} for i, text in enumerate(turns)]
    session = {"session_uuid": "s1", "current_time": "2025-06-02 (Monday)", "dialogue_turns": said}
    sessions = {"dialogues": [{**session, "extracted_memory": [memory]}]}
    _write(folder / "realmem" / "dataset" / "Some_One_dialogues_256k.json", sessions)


def _lifebench(folder: Path) -> None:
    home = folder / "lifebench" / "life_bench_data" / "data_en" / "linzhao"
    texts = [
        *("Me: The puppy is called Biscuit.", "Mei: Sweet name!", "Me: See you at noon."),
        *("Mei: Noon is fine.", "Me: The train is late.", "Mei: No problem."),
    ]
    sms = [
        {"message_content": text, "contactName": "Mei", "message_type": kind, "datetime": time, "phone_id": i}
        for i, text in enumerate(texts)
        for kind, time in [("Receive" if i % 2 else "Send", f"2025-03-01 10:0{i}:00")]
    ]
    evidence = [{"type": "sms", "id": 0}, {"type": "photo", "id": 9}]
    qa = {"question": "What is the puppy of Lin Zhao called?", "answer": "Biscuit", "evidence": evidence}
    _write(home / "persona.json", {"name": "Lin Zhao"})
    _write(home / "phone_data" / "sms.json", sms)
    _write(home / "QA" / "QA_clean.json", [qa])


def _qmsum(folder: Path) -> None:
    said = [
        "Welcome {vocalsound} all .",
        "The budget is ten euros .",
        "The remote must be yellow and rubber .",
        *("Fine .", "Lunch ?", "Yes , lunch now .", "Bye ."),
    ]
    query = {
        "query": "What did Design say about the remote?",
        "answer": "It must be yellow and rubber.",
        "relevant_text_span": [["1", "3"]],
    }
    turns = [{"speaker": "Lead" if i % 2 else "Design", "content": text} for i, text in enumerate(said)]
    meeting = {"meeting_transcripts": turns, "specific_query_list": [query]}
    _write(folder / "qmsum" / "ALL" / "val" / "m1.json", meeting)


def _topical_chat(folder: Path) -> None:
    said = [
        *("Hi! Do you have any pets?", "Yes, two parrots who sing all day.", "Lovely birds."),
        *("They are loud though.", "I love quiet places.", "So do they, at night."),
    ]
    content = [{"message": text, "agent": f"agent_{1 + i % 2}"} for i, text in enumerate(said)]
    _write(folder / "topical_chat" / "conversations" / "valid_freq.json", {"t_1": {"content": content}})


def _wiki(folder: Path) -> None:
    nqg = folder / "nqg" / "data"
    nqg.mkdir(parents=True)
    for split in ("dev", "test"):
        said = "\n".join(f"the {split} tower number {n} is {n} metres high ." for n in range(1, 7))
        asked = "\n".join(f"how high is {split} tower {n} ?" for n in range(1, 7))
        (nqg / f"src-{split}.txt").write_text(said)
        (nqg / f"tgt-{split}.txt").write_text(asked)
    item = {
        "question_text": "when did the bridge open",
        "paragraph_text": "Rain fell . The bridge opened in 1901 . Nobody came .",
        "sentence_starts": [0, 12, 40],
        "annotation": {"selected_sentence": {"start": 12}},
    }
    (folder / "qed").mkdir()
    (folder / "qed" / "qed-dev.jsonlines").write_text("\n".join([json.dumps(item)] * 2))
    passage = {"text": "The mill is old. It was built by Ida Brook. It stands near Mr. Hill."}
    oracle = {"question": "who built the mill", "answers": ["Ida Brook"], "ctxs": [passage]}
    (folder / "nq_oracle").mkdir()
    (folder / "nq_oracle" / "nq.jsonl.gz").write_bytes(gzip.compress(json.dumps(oracle).encode()))


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder like `data/train` with a few lines of every source."""
    for write in (_friendsqa, _realmem, _lifebench, _qmsum, _topical_chat, _wiki):
        write(tmp_path / "train")
    return tmp_path / "train"
