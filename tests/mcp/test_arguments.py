"""What the tools take: the schema that is shown is what is held."""

from dataclasses import fields

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.ask import batch
from smartsearch.ask.batch import FILTERS
from smartsearch.cli.options import FilterOptions
from smartsearch.errors import InputError, UsageError
from smartsearch.serve.mcp.arguments import ExpandArguments, SearchArguments, StatusArguments, parse, schema
from smartsearch.transcripts import filters
from smartsearch.transcripts.filters import Filters

KINDS = (SearchArguments, ExpandArguments, StatusArguments)


def test_a_schema_has_types_bounds_defaults_and_a_word_for_each():
    limit = {"type": "integer", "minimum": 1, "maximum": 50, "description": "Most hits.", "default": 8}
    assert schema(SearchArguments)["properties"]["limit"] == limit
    assert schema(ExpandArguments)["required"] == ["ids"]
    assert schema(StatusArguments) == {"type": "object", "properties": {}, "additionalProperties": False}
    for kind in KINDS:
        jsonschema.Draft202012Validator.check_schema(schema(kind))


def test_what_narrows_a_search_is_the_same_for_the_command_line_a_batch_and_agents():
    typed = {parameter.name for parameter in FilterOptions.parameters()} | {"speaker", "now"}
    shown = schema(SearchArguments)["properties"]
    assert set(FILTERS) == {*Filters.__dataclass_fields__, "speaker", "now"} <= typed
    for field in fields(Filters):
        several = isinstance(field.default, tuple)
        about = shown[f"{field.name}s" if several else field.name]
        assert about["type"] == ("array" if several else "boolean" if field.default is False else "string")
        assert field.metadata["help"].startswith(about["description"].rstrip("."))


def test_a_switch_of_a_line_is_true_or_false(monkeypatch: pytest.MonkeyPatch):
    for module in (batch, filters):
        monkeypatch.setattr(module, "SWITCHES", ("role",))
    said = {said: batch.question_of(1, 1, {"question": "q", "role": said}).filters for said in (True, False)}
    assert said == {True: {"role": ("true",)}, False: {"role": ("false",)}}
    with pytest.raises(InputError, match="neither true nor false"):
        batch.question_of(1, 1, {"question": "q", "role": "yes"})


def test_what_is_not_given_has_its_default():
    made = parse(SearchArguments, {"question": "who?", "paths": None, "limit": 3.0, "speakers": "Ann"})
    assert (made.question, made.paths, made.limit, made.line) == ("who?", (), 3, 90)
    assert made.narrowed == {"speaker": ["Ann"]}
    assert parse(ExpandArguments, {"ids": "abc"}).ids == ("abc",)


@pytest.mark.parametrize(
    ("kind", "given", "said", "hint"),
    [
        (SearchArguments, {}, "question is missing", "What you want to know"),
        (SearchArguments, {"question": "  "}, "question is '  '", "at least 1 character"),
        (SearchArguments, {"question": "x" * 2001}, "question is 'xxx", "at most 2000 characters"),
        (SearchArguments, {"question": "x", "limit": 51}, "limit is 51", "less than or equal to 50"),
        (SearchArguments, {"question": "x", "limit": True}, "limit is True", "a valid integer"),
        (SearchArguments, {"question": "x", "limit": "8"}, "limit is '8'", "a valid integer"),
        (SearchArguments, {"question": "x", "speakers": ["a"] * 33}, "speakers is ['a'", "at most 32 items"),
        (SearchArguments, {"question": "x", "paths": [1]}, "paths is [1]", "a valid string"),
        (SearchArguments, {"question": "x", "limt": 3}, "no argument 'limt'", "did you mean limit?"),
        (ExpandArguments, {"ids": []}, "ids is []", "at least 1 item"),
        (ExpandArguments, {"ids": ["a"] * 21}, "ids is ['a'", "at most 20 items"),
        (ExpandArguments, {"ids": ["x" * 1001]}, "ids is ['xxx", "at most 1000 characters"),
        (StatusArguments, {"zzz": 1}, "no argument 'zzz'", "it takes none"),
    ],
)
def test_what_is_wrong_is_named_with_what_is_right(kind: type, given: dict, said: str, hint: str):
    with pytest.raises(UsageError) as caught:
        parse(kind, given)
    assert caught.value.kind == "argument"
    assert caught.value.message.startswith(said)
    assert len(caught.value.message) < 100
    assert hint in caught.value.hint


KNOWN = ["question", "paths", "limit", "line", "ids", "around", "tokens"]
NAMES = st.sampled_from(KNOWN) | st.text(max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 30_000) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(st.sampled_from(KINDS), st.dictionaries(NAMES, VALUES, max_size=4))
def test_whatever_is_sent_is_a_record_or_a_named_error(kind: type, sent: dict):
    valid = jsonschema.Draft202012Validator(schema(kind)).is_valid(sent)
    try:
        parse(kind, sent)
    except UsageError:
        assert not valid or not sent["question"].strip()
