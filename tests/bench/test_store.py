"""What was computed is there again, under its own key only."""

import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from smartsearch.bench.store import Store, corpus_digest
from smartsearch.errors import InputError
from smartsearch.rank.text import Shown
from smartsearch.types import Corpus, Turn


def test_arrays_come_back_as_they_were_put(tmp_path):
    values = np.array([0.25, np.nan, 1e-300])
    with Store(tmp_path / "deep" / "scores.db") as store:
        store.put("ce", "k", values)
    with Store(tmp_path / "deep" / "scores.db") as store:
        found = store.get("ce", "k")
        assert np.array_equal(found, values, equal_nan=True)
        assert found.dtype == np.float64
        assert store.get("colbert", "k") is None


@pytest.mark.parametrize("table", ["people", "entries"])
def test_a_database_of_something_else_is_left_alone_and_what_is_none_is_told_by_name(tmp_path, table):
    other = sqlite3.connect(tmp_path / "contacts.db")
    other.execute(f"create table {table} (name text)")
    other.commit()
    with pytest.raises(InputError, match=table):
        Store(tmp_path / "contacts.db")
    assert [name for (name,) in other.execute("select name from sqlite_master")] == [table]
    other.close()
    (tmp_path / "chat.txt").write_text("Ann: hello, this is no database at all\n" * 50)
    with pytest.raises(InputError, match=r"chat\.txt"):
        Store(tmp_path / "chat.txt")


def test_the_key_of_a_corpus_changes_with_all_that_is_read_of_it():
    turns = (Turn("hello", "Ann", "2024-05-08", session="s1"), Turn("hi", "Bo", "2024-05-08", session="s1"))
    base = corpus_digest(Corpus(turns))
    changes = {"text": "bye", "speaker": "Al", "time": "2024-05-09", "caption": "a cat", "session": "s2"}
    for name, value in changes.items():
        assert corpus_digest(Corpus((turns[0], replace(turns[1], **{name: value})))) != base, name
    assert corpus_digest(Corpus(turns), Shown(before=0)) != base
    assert corpus_digest(Corpus(tuple(replace(turn, path="elsewhere.txt") for turn in turns))) == base
