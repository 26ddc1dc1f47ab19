"""Where a value comes from, and what is refused."""

import re
from pathlib import Path

import pytest

from smartsearch.config import FIELDS, PRESETS, Config, assigned, beyond_paper, build, is_path
from smartsearch.config import names as config_names
from smartsearch.errors import CacheError, ConfigError, UsageError
from smartsearch.models import loading, trained
from smartsearch.runtime import private


def made(tmp_path, given=None, env=None, project="", user="", **how):
    (tmp_path / ".smartsearch.toml").write_text(project)
    folder = tmp_path / "home" / ".config" / "smartsearch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(user)
    return build(given, env=env or {}, folder=tmp_path, home=tmp_path / "home", **how)


def test_the_command_line_beats_the_environment_beats_project_beats_user(tmp_path):
    user, project, env = "alpha = 0.1\nhops = 1\ntop_k = 7\nrrf_k = 9", "alpha = 0.2\nhops = 2\ntop_k = 8", {
        "SMARTSEARCH_ALPHA": "0.3",
        "SMARTSEARCH_HOPS": "1",
    }  # fmt: skip
    config = made(tmp_path, {"alpha": 0.4, "hops": None}, env, project, user)
    assert (config.alpha, config.hops, config.top_k, config.rrf_k, config.limit) == (0.4, 1, 8, 9, 0)


def test_values_are_read_as_their_type(tmp_path):
    env = {
        "SMARTSEARCH_PRF": "off",
        "SMARTSEARCH_RANK": "ce",
        "SMARTSEARCH_CANDIDATES": "all",
        "SMARTSEARCH_X": "1",
    }
    config = made(tmp_path, env=env)
    assert (config.prf, config.rank, config.candidates) == (False, ("ce",), 0)
    assert made(tmp_path, env={"SMARTSEARCH_RANK": "none"}).rank == ()


BOTH = ("ce", "colbert")


@pytest.mark.parametrize(
    ("user", "project", "env", "given", "preset", "rank"),
    [
        ("", "", {}, {"fast": True}, "", ()),
        ("fast = true", "", {}, {}, "", ()),
        ("fast = true", "", {}, {"fast": False}, "", BOTH),
        ("fast = true", "rank = 'ce'", {}, {}, "", ("ce",)),
        ("rank = 'ce'", "", {"SMARTSEARCH_FAST": "1"}, {}, "", ()),
        ("", "fast = true", {}, {"rank": ("colbert",)}, "", ("colbert",)),
        ("", "fast = true\nrank = 'ce'", {}, {}, "", ()),
        ("fast = true", "", {}, {}, "paper", BOTH),
        ("", "", {}, {"fast": True}, "paper", ()),
    ],
)
def test_of_fast_and_rankers_the_one_that_is_said_last_counts(
    tmp_path, user, project, env, given, preset, rank
):
    config = made(tmp_path, given, env, project, user, preset=preset)
    assert (config.rank, config.fast) == (rank, not rank)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"fast": True, "rank": ("ce",)}, UsageError, "--fast runs no ranker, and --rank names ce"),
        ({"fast": True, "min_score": 0.5}, ConfigError, "only the cross-encoder tells"),
    ],
)
def test_what_no_ranker_can_do_is_refused(tmp_path, given, error, message):
    with pytest.raises(error, match=message):
        made(tmp_path, given)
    assert made(tmp_path, {"fast": True, "rank": ()}).rank == ()


@pytest.mark.parametrize(
    ("layer", "text", "message"),
    [
        ("user", "alpha = " + "[" * 20_000, "nested too deeply"),
        ("user", "#" * 70_000, "more than 65,536 bytes"),
        ("user", "alpha = ", r"config\.toml"),
        ("user", "hops = 2\nalfa = 1", r"config\.toml:2: no setting named 'alfa'"),
        ("user", "hops = 'many'", "hops = 'many'"),
        ("user", "alpha = 2.0", "alpha is 2.0"),
        ("user", "truncate = 'hard'", "truncate is 'hard'"),
        ("user", "budget = -1", "budget is -1"),
        ("user", "timeout = inf", "timeout is inf"),
        ("user", "rrf_k = -1", "rrf_k"),
        ("user", "candidates = -2", "candidates"),
        ("user", "rank = ['ce', 'ce']", "ce,ce"),
        ("user", "top_k = 0", "top_k"),
        ("user", "rank = ['bm25']", "bm25"),
        ("user", "limit = 1.9", "limit = .* is not"),
        ("user", "limit = true", "limit = .* is not"),
        ("user", "alpha = false", "alpha = .* is not"),
        ("user", "cache_size = 0.5", "cache_size = .* is not"),
        ("user", "profile = true", "profile = .* is not"),
        ("user", "parser = ['x']", "parser = .* is not"),
        ("user", "now = '2023-05-08 garbage'", "now is"),
        ("user", "now = '2023-05-08T99:00'", "now is"),
        ("user", "now = '2023-05-080'", "now is"),
    ],
)
def test_a_bad_value_is_named_with_its_place(tmp_path, layer, text, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")) as caught:
        made(tmp_path, **{layer: text})
    assert caught.value.hint


NO_FILE = "nothing of it is heeded"
LEFT_OUT = "left out"


@pytest.mark.parametrize(
    ("text", "message", "end"),
    [
        ("profile = 'paper'", ":2: a project file may not set 'profile'", LEFT_OUT),
        ("crossencoder = '/tmp/x'", "may not set", LEFT_OUT),
        ("cache = true", "may not set", LEFT_OUT),
        ("cache_size = 1", "may not set", LEFT_OUT),
        ("offline = false", "may not set 'offline'", LEFT_OUT),
        ("[chats]\nx = '~/.ssh'", ":2: a project file may not set 'chats'", LEFT_OUT),
        ("'alfa' = 1", ":2: no setting named 'alfa'", LEFT_OUT),
        ("notes = ['all is well']", "no setting named 'notes'", LEFT_OUT),
        ("prf = 'maybe'", ":2: prf = 'maybe' is not bool", LEFT_OUT),
        ("alpha = 3", ":2: alpha is 3.0", LEFT_OUT),
        (f"order = '{'x' * 9000}'", ":2: order is 'xx", LEFT_OUT),
        ("\n".join(f"a{n} = 1" for n in range(9)), ": and 5 more", LEFT_OUT),
        ("alpha = " + "[" * 20_000, ": nested too deeply", NO_FILE),
        ("k = " + "1" * 5_000, "Exceeds the limit", NO_FILE),
        ("#" * 70_000, "more than 65,536 bytes", NO_FILE),
        ("alpha = \n", "line 2", NO_FILE),
        ("x\x00", "line 2", NO_FILE),
    ],
)
def test_what_is_wrong_in_a_projects_file_is_told_and_costs_itself_alone(tmp_path, text, message, end):
    config = made(tmp_path, project=f"hops = 1\n{text}", env={"SMARTSEARCH_TOP_K": "7"})
    whole = end == LEFT_OUT
    assert config == made(tmp_path, {"hops": 1 if whole else 3, "top_k": 7})
    faults = config.notes[whole:]
    assert message in faults[-1]
    assert all(fault.startswith(f"{tmp_path}/.smartsearch.toml") for fault in faults)
    assert all(fault.endswith(end) and len(fault) < len(str(tmp_path)) + 200 for fault in faults)


def test_a_projects_file_that_is_none_or_no_text_is_told(tmp_path):
    path = tmp_path / ".smartsearch.toml"

    def told():
        return build(env={}, folder=tmp_path, home=tmp_path / "home").notes

    assert told() == ()
    path.write_bytes(b"\xffhops = 1")
    assert "can't decode" in told()[0]
    path.unlink()
    path.mkdir()
    assert told() == (f"{path} is no file; nothing of it is heeded",)
    path.rmdir()
    path.symlink_to(tmp_path / "nowhere")
    assert told() == (f"{path} is no file; nothing of it is heeded",)
    path.unlink()
    path.write_bytes(b"\xef\xbb\xbfhops = 1")
    assert told() == (f"{path} sets hops = 1",)


def test_a_projects_file_names_what_it_changes_of_an_answer_and_nothing_else(tmp_path):
    project = "limit = 1\nhops = 2\nalpha = 0.3\ntop_k = 60\nrrf_k = 9\nprf = false\nspeaker = ['Mara']\n"
    config = made(tmp_path, {"alpha": 0.4}, {"SMARTSEARCH_HOPS": "2"}, project, "rrf_k = 9")
    assert config.notes == (f"{tmp_path}/.smartsearch.toml sets prf = false, speaker = Mara, limit = 1",)
    assert made(tmp_path, preset="paper", project="pool = 7").notes == ()
    assert made(tmp_path, user="limit = 1", env={"SMARTSEARCH_TOP_K": "7"}).notes == ()
    assert len(made(tmp_path, project=f"now = '2023-05-08'\nspeaker = '{'x' * 999}'").notes[0]) < 300


def test_the_cache_has_a_size_in_mebibytes_unless_it_is_off(tmp_path):
    assert made(tmp_path).cache_bytes == 2**30
    assert made(tmp_path, env={"SMARTSEARCH_CACHE_SIZE": "3"}).cache_bytes == 3 * 2**20
    assert made(tmp_path, env={"SMARTSEARCH_CACHE": "off"}).cache_bytes == 0
    assert made(tmp_path, {"cache": True}, {"SMARTSEARCH_CACHE": "off"}).cache_bytes == 2**30


def test_a_preset_is_the_papers_setting_and_the_command_line_goes_over_it(tmp_path):
    assert made(tmp_path, preset="paper-locomo").word_budget == 2000
    assert made(tmp_path, {"budget": 5}, preset="paper-locomo").budget == 5
    with pytest.raises(ConfigError, match="no preset"):
        made(tmp_path, preset="nope")


PAPER = {
    "system": "smartsearch",
    **{"weight_propn": 3.0, "weight_noun": 2.0, "weight_verb": 1.0, "weight_entity": 1.0, "typed": False},
    **{"mode": "or", "word_boundary": False, "fuzzy": False, "dates": False, "pool": 0, "speaker": ()},
    **{"hops": 3, "weight_hop": 2.5, "entity_source": "all", "hop_terms": 0, "hop_characters": 0},
    **{"prf": True, "prf_min_turns": 2, "hop_sources": 10, "weight_prf": 0.5, "hop_speakers": False},
    **{"semantic": "fallback", "semantic_below": 5, "first": "match"},
    **{"profile": "paper", "parser": "", "crossencoder": "", "colbert": "", "rank": ("ce", "colbert")},
    **{"candidates": 0, "fuse": "rrf", "weight_ce": 0.7, "weight_colbert": 0.3, "rrf_k": 60},
    **{"beside": (), "windows": False, "calibrate": False, "lift": False, "fast": False},
    **{"truncate": "adaptive", "alpha": 0.03, "top_k": 60, "budget": 4000, "fill": "stop", "order": "rank"},
    **{"tokens": 0, "compress": (), "min_score": 0.0, "whole": True},
}
"""Paper 3.3 to 3.6 and paper table 5, by hand: what `--as paper` has to be, whatever the defaults become."""


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("paper", {}),
        ("paper-locomo", {"truncate": "fixed", "budget": 2000}),
        ("index-free", {"profile": "paper-index-free", "rank": ("ce",), "semantic": "off"}),
    ],
)
def test_a_preset_is_the_paper_to_the_last_setting(tmp_path, preset, changes):
    """Whatever file and environment say of any setting that changes an answer, as these are described."""
    silent = set(config_names("find", "rank", "cut")) - PAPER.keys()
    trusted = {name for name in silent if FIELDS[name].metadata["trusted"]}
    wanted = {name: FIELDS[name].default for name in silent - trusted} | PAPER | changes
    assert PRESETS[preset] == wanted
    others = {name: _another(name) for name in (*wanted, *trusted)}
    said = assigned(f"{name}={value}" for name, value in others.items())
    assert not [name for name, value in said.items() if value == wanted.get(name, FIELDS[name].default)]
    env = {f"SMARTSEARCH_{name.upper()}": value for name, value in others.items()}
    written = "\n".join(f'{name} = "{value}"' for name, value in others.items())
    for how, heeded in (({"env": env}, trusted), ({"user": written}, trusted), ({"project": written}, set())):
        config = made(tmp_path, preset=preset, **how)
        assert {name: getattr(config, name) for name in wanted} == wanted
        assert {name for name in trusted if getattr(config, name) != FIELDS[name].default} == heeded
        assert beyond_paper(config) == []


def _another(name):
    """A value of a setting, as a file has it, that is neither its default nor any preset's."""
    field = FIELDS[name]
    taken = [field.default, *(values[name] for values in PRESETS.values() if name in values)]
    if isinstance(field.default, bool):
        return str(not taken[-1])
    if isinstance(field.default, int | float):
        return next(str(value) for value in (1, 2, 3, 4, 5) if value not in taken)
    if isinstance(field.default, tuple):
        return (field.metadata["choices"] or ("colbert",))[0]
    free = [one for one in field.metadata["choices"] if one not in taken[1:]]
    return free[0] if free else {"now": "2023-05-08", "system": "bm25", "truncate": "none"}.get(name, "/mine")


def test_the_papers_method_goes_with_any_models_and_is_told_where_it_is_another(tmp_path):
    ours = made(tmp_path, {"profile": "embedded"}, preset="paper")
    assert (ours.profile, ours.candidates, beyond_paper(ours)) == ("embedded", 0, [])
    other = beyond_paper(made(tmp_path, {"profile": "paper"}))
    assert {"typed", "candidates", "beside", "fuse"} <= set(other)
    assert beyond_paper(made(tmp_path, {"pool": 7}, preset="paper")) == ["pool"]
    assert beyond_paper(made(tmp_path, {"rank": ("ce",)}, preset="index-free")) == []


def test_the_defaults_keep_the_papers_weights_and_most_of_its_cut():
    config, ours = (
        Config(),
        """profile entity_source hop_terms hop_characters fuzzy dates pool typed
    first candidates fuse beside windows calibrate lift budget alpha fill whole""",
    )
    assert {name for name, value in PAPER.items() if getattr(config, name) != value} == set(ours.split())
    assert config.word_budget == 4000
    table = (Path(__file__).parents[1] / "docs" / "paper.md").read_text(encoding="utf-8")
    for name in set(ours.split()) - {"budget"}:  # 4,000 words either way
        assert FIELDS[name].metadata["panel"], f"{name} has no switch"
        dashed = rf"--(no-)?{name.replace('_', '-')}\b"
        switch = rf"--set {name}=" if FIELDS[name].metadata["rare"] else dashed
        assert re.search(switch, table), f"docs/paper.md does not tell {name}"


NUMBERS_AND_MODES = """
weight_propn weight_noun weight_verb weight_entity min_length min_length_propn mode word_boundary hops
entity_source hop_sources hop_terms hop_characters hop_speakers beside windows calibrate
weight_hop prf prf_min_turns weight_prf fuzzy fuzzy_cutoff fuzzy_words
typed lift semantic semantic_below semantic_top first likely_turns pool
dates weight_date now speaker weight_speaker rank fuse weight_ce weight_colbert rrf_k
speaker_rank fast candidates cascade colbert_turns wanted truncate budget tokens fill alpha min_score top_k
order limit compress whole
qrmem qrmem_scope qrmem_trials xmemory xmemory_cap qr_candidates qr_memory qr_dtype
memorag memorag_clues memorag_ratio memorag_context threads timeout
"""


def test_a_project_file_sets_numbers_and_modes_and_no_more():
    """A new setting is one that a stranger's file may set only if it is written here too."""
    allowed = {name for name, field in FIELDS.items() if not field.metadata["trusted"]}
    assert allowed == set(NUMBERS_AND_MODES.split())


def test_a_current_folder_that_is_gone_has_no_project_file(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert build({"hops": 1}, env={}, home=tmp_path).hops == 1
    with pytest.raises(ConfigError, match=r"\./model leads nowhere"):
        build({"colbert": "./model"}, env={}, home=tmp_path)


def test_a_home_that_is_closed_to_this_user_has_no_settings(tmp_path, monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", closed)
    assert made(tmp_path, {"hops": 1}).hops == 1


def test_only_what_is_written_as_a_path_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acme" / "x").mkdir(parents=True)
    assert not any(map(is_path, ("acme/x", "x", "shipped:colbert", "", ".x", "..x/y")))
    assert all(map(is_path, ("./x", "../x", "~/x", "/x", ".", "..", "./acme/x")))
    assert build({"colbert": "acme/x"}, env={}, home=tmp_path).colbert == "acme/x"
    assert build({"colbert": "./acme/x"}, env={}, home=tmp_path).colbert == str(tmp_path / "acme" / "x")


def test_a_user_without_a_home_has_no_settings_and_no_profiles(tmp_path, monkeypatch):
    """A container's user of a bare number: HOME unset, and no entry that names a folder."""

    def none():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", none)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert build({"hops": 1}, env={}, folder=tmp_path).hops == 1
    assert trained.names() == []
    assert trained.find("mine") is None
    with pytest.raises(UsageError, match="cannot be written"), trained.workshop():
        pass
    with pytest.raises(CacheError, match="no home folder"):
        private.home("colbert")
    assert loading._cache_home() is None


@pytest.mark.parametrize("base", [".", "mine", ""])
def test_a_relative_base_does_not_make_the_current_folder_ones_own(tmp_path, monkeypatch, base):
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "mine", tmp_path / ".config", tmp_path / "mine" / ".config"):
        (folder / "smartsearch").mkdir(parents=True, exist_ok=True)
        (folder / "smartsearch" / "config.toml").write_text("hops = 1", encoding="utf-8")
    monkeypatch.setenv("HOME", base or "/nowhere")
    assert build({}, env={"XDG_CONFIG_HOME": base}, folder=tmp_path).hops == 3
    monkeypatch.setenv("XDG_DATA_HOME", base)
    assert not trained.home().is_relative_to(tmp_path)
    assert trained.home().is_absolute()
