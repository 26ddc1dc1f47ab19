"""`setup` on made-up homes of ten agents: what it writes where, what it leaves, and how it goes again."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import smartsearch
from smartsearch.runtime import extras
from smartsearch.serve.setup.agents import AGENTS
from smartsearch.serve.setup.edits import WRITERS
from smartsearch.serve.setup.wiring import BACKUP
from tests.cli.conftest import Run

HERE = [sys.executable, "-m", "smartsearch", "mcp"]
APPS = "Library/Application Support" if sys.platform == "darwin" else ".config"
JSONC = """{
  // what I use at work
  "inputs": [],
  "servers": { // two of them
    /* the first */
    "docs": {"type": "http", "url": "https://docs.example.com/mcp//x"},
    "files": {"type": "stdio", "command": "files", "args": ["{", "\\"}"],},
  },
}
"""
TOML = """# mine
model = "gpt-5"
notes = \"\"\"
[mcp_servers.none]
\"\"\"

[mcp_servers.files]  # read only
command = "files"
args = [
  "[x]",
]

[projects."/home/me/app"]
trust_level = "trusted\""""
YAML = """# written by goose configure
GOOSE_PROVIDER: openai
extensions:
  # built in
  developer:
    enabled: true
    name: developer
    type: builtin

GOOSE_MODEL: "gpt: 5"
"""
HOMES = {
    "claude-code": (
        ".claude.json",
        '{\n  "tipsHistory": {"x": 1e2},\n  "mcpServers": {},\n  "big": 12345678901234567890\n}',
    ),
    "codex": (".codex/config.toml", TOML),
    "gemini-cli": (".gemini/settings.json", '{"security":{"auth":{"selectedType":"oauth"}}}'),
    "cursor": (".cursor/mcp.json", '{\r\n\t"mcpServers": {\r\n\t\t"a": {"url": "http://x"}\r\n\t}\r\n}\r\n'),
    "vscode": (f"{APPS}/Code/User/mcp.json", JSONC),
    "claude-desktop": (f"{APPS}/Claude/claude_desktop_config.json", "\ufeff{}\n"),
    "opencode": (".config/opencode/opencode.jsonc", '{\n    // "mcp": {},\n    "theme": "ö"\n}\n'),
    "qwen": (".qwen/settings.json", '{ "mcpServers": { "a": { "command": "b" } } }\n'),
    "copilot": (".copilot/mcp-config.json", '{\n  "mcpServers": {\n    // none yet\n  }\n}\n'),
    "goose": (".config/goose/config.yaml", YAML),
}
"""Configurations as these programs and their users write them: where each lies below the home folder."""
PLACES = {"claude-desktop": "", "goose": "", "vscode": "@copilot"}
"""The names of sessions that are not the agent's own."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "no-commands"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def ten(home: Path) -> dict[str, Path]:
    """The ten configurations, by the agent's name."""
    for file, text in HOMES.values():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_bytes(text.encode())
    return {name: home / file for name, (file, _) in HOMES.items()}


def server(name: str, path: Path):
    """The entry that stands in a configuration, as an independent reader of the format has it."""
    agent = next(agent for agent in AGENTS if agent.name == name)
    text = path.read_text("utf-8-sig")
    if agent.writer == "json":  # the comments and last commas of these samples
        told = (line for line in text.splitlines() if not line.strip().startswith(("//", "/*")))
        lines = [line.split(" //")[0] for line in told]
        value = json.loads("".join(lines).replace(",}", "}").replace(",  }", "}"))
    else:
        value = yaml.safe_load(text) if agent.writer == "yaml" else WRITERS["toml"].read(text)
    return value[agent.top].get("smartsearch")


def test_ten_agents_are_wired_and_are_as_before_when_it_is_taken_out(run: Run, ten, chats: Path):
    before = {name: path.read_bytes() for name, path in ten.items()}
    ran = run("setup", str(chats), "--yes")
    assert ran.code == 0
    for name, path in ten.items():
        words = [*HERE, *filter(None, [PLACES.get(name, f"@{name}"), str(chats)])]
        entry = server(name, path)
        line = [entry.get("cmd", entry.get("command")), *entry.get("args", ())]
        assert (entry["command"] if name == "opencode" else line) == words
        kept = [line for line in before[name].decode().splitlines() if line.strip("\ufeff {}[],")]
        after = path.read_bytes().decode()
        assert not [x for x in kept if x.count("{") < 2 and x not in after and "mcpServers" not in x]
        assert f"{path}{BACKUP}" == str(path.with_name(path.name + BACKUP))
        assert path.with_name(path.name + BACKUP).read_bytes() == before[name]
    wired = {name: path.read_bytes() for name, path in ten.items()}
    assert run("setup", str(chats), "--yes").out.count("set up already") == 10
    assert run("setup", "--yes").out.count("set up already") == 10, "folders once named are kept"
    assert {name: path.read_bytes() for name, path in ten.items()} == wired
    assert run("setup", "--remove", "--yes").code == 0
    assert {name: path.read_bytes() for name, path in ten.items()} == before
    assert not list(ten["codex"].parents[1].rglob(f"*{BACKUP}"))
    assert run("setup", "--remove", "--yes").out.count("not set up") == 10


@pytest.mark.parametrize("name", HOMES)
def test_it_is_taken_out_of_what_has_changed_since(run: Run, ten: dict[str, Path], chats: Path, name: str):
    """Agents write to their configurations all the time: what is said in them stays, and the layout too."""
    path, before = ten[name], HOMES[name][1]
    assert run("setup", str(chats), "--yes", "--agent", name).code == 0
    first, last = {"codex": ("more = 1\n", ""), "goose": ("more: 1\n", "")}.get(name, ("", " \n"))
    path.write_bytes(first.encode() + path.read_bytes() + last.encode())
    assert run("setup", "--remove", "--yes", "--agent", name).code == 0
    left = path.read_bytes().decode().removeprefix(first).removesuffix(last)
    same = left.split() == before.split()
    assert same or json.loads(left.lstrip("\ufeff")) == json.loads(before.lstrip("\ufeff"))
    if name not in (
        "claude-code",
        "claude-desktop",
        "copilot",
        "codex",
    ):  # an object was empty, a last line open
        assert left == before


THEIRS = {"matcher": "startup", "hooks": [{"type": "command", "command": "echo hi"}]}
SETTINGS = (
    "{}\n",
    '{"model": "x"}',
    '{"hooks": {"SessionStart": []}, // none yet\n}',
    json.dumps({"hooks": {"SessionStart": [THEIRS], "Stop": []}}),
    json.dumps({"hooks": {"SessionStart": [THEIRS, THEIRS]}, "model": "x"}, indent=4),
)


@pytest.mark.parametrize("before", SETTINGS)
def test_the_hook_is_set_up_where_it_is_named_beside_others_and_goes(run: Run, ten, home: Path, before):
    path, read = home / ".claude" / "settings.json", WRITERS["json"].read
    path.parent.mkdir()
    path.write_text(before)
    run("setup", "--yes")
    assert path.read_text() == before, "it is off unless asked for"
    assert run("setup", "--agent", "claude-hook", "--yes").code == 0
    ours, *others = read(path.read_text())["hooks"]["SessionStart"]
    command = f"{shlex.join(HERE[:-1])} serve @claude-code >/dev/null 2>&1 &"
    assert ours == {"hooks": [{"type": "command", "command": command}]}
    former = read(before).get("hooks", {})
    assert others == former.get("SessionStart", [])
    assert "set up already" in run("setup", "--agent", "claude-hook", "--yes").out
    path.write_text(path.read_text().replace("echo hi", "echo ho"))
    assert run("setup", "--remove", "--yes").code == 0
    left = read(path.read_text())
    assert left.get("hooks", {}).get("SessionStart", []) == read(json.dumps(others).replace("hi", "ho"))
    assert ("hi" in before) or path.read_text() == before
    assert not path.with_name(path.name + BACKUP).exists()


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_configuration_that_was_not_there_is_made_and_goes(run: Run, home: Path, chats: Path, agent):
    assert run("setup", "talk.json", "--agent", agent.name, "--yes").code == 0
    assert str(chats / "talk.json") in agent.path.read_text()
    assert run("setup", "chat.txt", "--agent", agent.name, "--yes").code == 0
    assert "talk.json" not in agent.path.read_text()
    assert run("setup", "--remove", "--agent", agent.name, "--yes").code == 0
    assert not list(agent.path.parent.glob(f"{agent.path.name}*"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", '{"mcpServers": {'),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", "[1]"),
        ("cursor", "[" * 9999),
        ("cursor", b'{"a": "\xff\xfe"}'),
        ("cursor", '{"a": "\\ud800", "mcpServers": "none"}'),
        ("cursor", '{"mcpServers": {"smartsearch": {"command": "other", "args": ["mcp"]}}}'),
        ("codex", "mcp_servers = {a = {command = 'b'}}\n"),
        ("codex", "a = \n"),
        ("goose", "extensions: {a: {enabled: true}}\n"),
        ("goose", "extensions:\n- a\n"),
        ("goose", "extensions:\n\ta: [\n"),
        ("goose", "a: 1\n---\nb: 2\n"),
        ("claude-hook", '{"hooks": {"SessionStart": {}}}'),
        ("claude-hook", '{"hooks": []}'),
    ],
)
def test_what_is_damaged_or_not_known_is_left_alone_and_named(run: Run, home: Path, ten, name, text):
    path = next(agent.path for agent in AGENTS if agent.name == name)
    path.parent.mkdir(exist_ok=True)
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    ran = run("setup", "chat.txt", "--yes", *(f"--agent={one}" for one in {*ten, name}))
    assert (ran.code, path.read_bytes()) == (2, data)
    assert f"{path}: left alone" in ran.out
    assert server("qwen", ten["qwen"]), "the others are wired"
    assert not path.with_name(path.name + BACKUP).exists()


def test_nobody_is_there_to_be_asked_so_the_plan_is_shown_and_nothing_written(run: Run, ten: dict[str, Path]):
    ran = run("setup")
    assert ran.code == 2
    assert f"Codex  {ten['codex']}\n  + [mcp_servers.smartsearch]\n" in ran.out
    assert "try: --yes" in ran.err
    assert "name a folder" in ran.out
    assert ten["codex"].read_text() == TOML
    ten["codex"].unlink()
    ten["codex"].parent.rmdir()
    assert "Codex" not in run("setup").out, "what is not here is not offered"


def test_a_hook_of_a_users_own_that_runs_smartsearch_is_left_alone(run: Run, home: Path):
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    own = {"hooks": [{"type": "command", "command": "cd /srv && smartsearch serve notes; echo 'on"}]}
    path.write_text(before := json.dumps({"hooks": {"SessionStart": [own]}}))
    assert "not set up" in run("setup", "--agent", "claude-hook", "--remove", "--yes").out
    assert run("setup", "--agent", "claude-hook", "--yes").code == 0
    assert json.loads(path.read_text())["hooks"]["SessionStart"][1:] == [own]
    assert run("setup", "--remove", "--yes").code == 0
    assert path.read_text() == before


def test_the_hook_goes_from_a_group_to_which_others_were_added(run: Run, home: Path):
    path = home / ".claude" / "settings.json"
    assert run("setup", "--agent", "claude-hook", "--yes").code == 0
    held = json.loads(path.read_text())
    (group,) = held["hooks"]["SessionStart"]
    group["hooks"].append(THEIRS["hooks"][0])
    path.write_text(json.dumps(held, indent=2))
    assert "set up already" in run("setup", "--agent", "claude-hook", "--yes").out
    assert run("setup", "--remove", "--yes").code == 0
    assert json.loads(path.read_text()) == {"hooks": {"SessionStart": [{"hooks": THEIRS["hooks"]}]}}


def test_no_agent_and_no_such_agent_and_one_that_is_found_by_its_command(
    run: Run, home: Path, tmp_path: Path
):
    ran = run("setup", "--yes")
    told = (ran.code, "no agent was found" in ran.err, "--agent NAME, of claude-code" in ran.err)
    assert told == (2, True, True)
    assert "no agent is called 'emacs'" in run("setup", "--agent", "emacs").err
    assert run("setup", "nowhere", "--agent", "codex").code == 2
    assert run("setup", "@nobody", "--agent", "codex").code == 2
    command = tmp_path / "no-commands" / "qwen"
    command.parent.mkdir()
    command.touch(0o755)
    assert run("setup").out.startswith(f"Qwen Code  {home}/.qwen/settings.json\n  + {{\n")


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_folder_nothing_is_written(run: Run, tmp_path: Path, monkeypatch, home: str):
    monkeypatch.setenv("HOME", home)
    ran = run("setup", "--agent", "cursor", "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert "HOME names none" in ran.err


def test_what_an_agent_has_added_to_our_entry_stays(run: Run, home: Path, chats: Path):
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    entry = 'command = "/old/smartsearch"\nargs = ["mcp", "@codex", "/x"]\n'
    entry += 'env = { TZ = "UTC" }\nenabled = true\n'
    path.write_text(f"[mcp_servers.smartsearch]\n{entry}\n[mcp_servers.smartsearch.tools.search]\na = 'b'\n")
    ran = run("setup", "--yes")
    assert ran.code == 2, "a table inside a table cannot be written on a line"
    path.write_text(f"[mcp_servers.smartsearch]\n{entry}\n# next\n[profiles.x]\n")
    assert run("setup", "--yes").code == 0
    held = server("codex", path)
    assert (held["env"], held["enabled"], held["command"]) == ({"TZ": "UTC"}, True, sys.executable)
    assert held["args"] == [*HERE[1:], "@codex", "/x"]
    assert "/old/smartsearch" in path.with_name(path.name + BACKUP).read_text()
    assert "# next\n[profiles.x]\n" in path.read_text()


def test_a_link_stays_a_link_and_rights_stay(run: Run, home: Path):
    real = home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    (home / ".claude.json").symlink_to(real)
    assert run("setup", "--agent", "claude-code", "--yes").code == 0
    assert (home / ".claude.json").is_symlink()
    modes = [oct(path.stat().st_mode)[-3:] for path in (real, home / f".claude.json{BACKUP}")]
    assert modes == ["600", "600"]
    assert (home / f".claude.json{BACKUP}").read_text() == "{}"
    assert run("setup", "--remove", "--yes").code == 0
    assert real.read_text() == "{}"
    real.unlink()
    assert run("setup", "--agent", "claude-code", "--yes").code == 0
    assert run("setup", "--agent", "claude-code", "--remove", "--yes").code == 0
    assert ((home / ".claude.json").is_symlink(), real.exists()) == (True, False), "a link to nothing"


def test_where_no_configuration_can_be_written_the_error_says_so(run: Run, home: Path):
    (home / ".cursor").touch()
    ran = run("setup", "--agent", "cursor", "--yes")
    assert (ran.code, "please report it" in ran.err) == (2, False)
    assert f"{home}/.cursor/mcp.json cannot be written: " in ran.err


def test_an_agent_that_is_named_and_lacks_a_folder_is_not_set_up(run: Run, ten: dict[str, Path]):
    assert run("setup", "--agent", "goose", "--agent", "cursor", "--yes").code == 2
    assert server("cursor", ten["cursor"])
    assert run("setup", "--yes").code == 0, "it is not meant where all are"


def test_what_uvx_runs_is_told_to_be_installed_first(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "prefix", f"{home}/.cache/uv/archive-v0/x")
    assert "`uv tool install` it first" in run("setup", "--agent", "cursor").err


def test_a_no_writes_nothing(run: Run, ten: dict[str, Path], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("smartsearch.output.stream.can_ask", lambda: True)
    monkeypatch.setattr("smartsearch.output.stream.confirm", lambda _: False)
    assert run("setup").code == 0
    assert ten["codex"].read_text() == TOML
    monkeypatch.setattr("smartsearch.output.stream.confirm", lambda _: True)
    assert run("setup").code == 0
    assert ten["codex"].read_text() != TOML


def test_what_an_agent_writes_while_the_user_is_asked_is_kept(run: Run, ten, monkeypatch: pytest.MonkeyPatch):
    def confirm(_: str) -> bool:
        ten["qwen"].write_text('{"theme": "dark"}')
        ten["cursor"].write_text("{")
        return True

    monkeypatch.setattr("smartsearch.output.stream.can_ask", lambda: True)
    monkeypatch.setattr("smartsearch.output.stream.confirm", confirm)
    ran = run("setup", "--agent", "qwen", "--agent", "cursor")
    assert (ran.code, ten["cursor"].read_text()) == (2, "{")
    assert json.loads(ten["qwen"].read_text())["theme"] == "dark"
    assert server("qwen", ten["qwen"])["args"] == [*HERE[1:], "@qwen"]


def test_the_skill_the_lines_and_the_plugin_are_printed(run: Run, home: Path):
    assert run("setup", "--print", "skill").out.startswith("---\nname: smartsearch\ndescription: ")
    assert "smartsearch" in run("setup", "--print", "agents").out
    plugin = Path(run("setup", "--print", "plugin").out.strip())
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "smartsearch-memory"
    servers = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]
    assert servers["smartsearch"]["args"] == ["mcp", "@claude-code"]
    assert run("setup", "--print", "config").out.count("# ") == len(AGENTS)
    assert run("setup", "--print", "poem").code == 2
    assert not any(home.iterdir())


def test_the_commands_of_the_skill_work_in_an_agents_shell(run: Run, home: Path):
    """There no hit has a number: `show 1` would open a hit of what a person asked at a terminal before."""
    skill = run("setup", "--print", "skill").out
    query, show = re.findall(r"^    smartsearch (.*)$", skill, re.MULTILINE)
    found = run(*shlex.split(query.replace("@claude-code", "chat.txt"))).out
    place = ":".join(found.split(":")[:2])
    assert run(*shlex.split(show.replace("PATH:LINE", place))).code == 0


def test_the_registrys_entry_is_of_this_package():
    """What the MCP registry asks of server.json, and of the README that PyPI shows."""
    root = Path(__file__).parents[2]
    entry = json.loads((root / "server.json").read_text(encoding="utf-8"))
    (package,) = entry["packages"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert f"mcp-name: {entry['name']} " in (root / "README.md").read_text(encoding="utf-8")
    assert 0 < len(entry["description"]) <= 100
    assert (package["registryType"], package["identifier"]) == ("pypi", extras.DISTRIBUTION)
    assert entry["version"] == package["version"] == smartsearch.__version__
    assert f'\n{package["identifier"]} = "' in (root / "pyproject.toml").read_text(encoding="utf-8")
    wanted = [one.get("value", "PATH") for one in package["packageArguments"]]
    assert (wanted, package["transport"]) == (["mcp", "PATH"], {"type": "stdio"})


def test_the_recipes_of_homebrew_and_nix_are_of_this_package():
    root = Path(__file__).parents[2]
    needed = re.search(r"\ndependencies = \[(.*?)\n\]", (root / "pyproject.toml").read_text("utf-8"), re.S)
    assert needed
    names = {re.sub(r"[._]", "-", name) for name in re.findall(r'\n +"([\w.-]+)', needed[1])}
    flake = (root / "flake.nix").read_text("utf-8")
    listed = re.search(r"dependencies = \[(.*?)\]\s*\+\+ .*?\[(.*?)\]", flake, re.S)
    assert listed
    assert {*listed[1].split(), *listed[2].split()} == names - {"tomli"}, "nixpkgs has no Python before 3.11"
    formula = root / "packaging" / "smartsearch.rb"
    assert f"/smartsearch_cli-{smartsearch.__version__}.tar.gz" in formula.read_text("utf-8")
    for command in (["ruby", "-c", str(formula)], ["nix-instantiate", "--parse", str(root / "flake.nix")]):
        if shutil.which(command[0]):
            subprocess.run(command, check=True, capture_output=True)
