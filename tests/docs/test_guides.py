"""The commands of README and pages print what stands below them; all links lead somewhere."""

import doctest
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.shell import ROOT, Shell, commands, filled, furnish, sections

FOLDERS = (".", "docs", "docs/decisions", "benchmarks", "benchmarks/reports", "recipe", "smartsearch/models")
DOCUMENTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.md"))
PEOPLE = ("terminal", "scripts", "research", "prompts")
GUIDES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", *(f"docs/{one}.md" for one in PEOPLE))
}
SECTIONS = [
    (guide, heading)
    for guide, text in GUIDES.items()
    for heading, part in sections(text).items()
    if commands(part)
]
NEEDED = ("jq", "fzf")
MEASURED = re.compile(r"\d+\.\d+|\bpid \d+|\b[0-9a-f]{12}\b")
"""What differs between machines and runs: scores, times, sizes, process ids, digests."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with one warm process for its questions; the runtime folder is short, as sockets want it."""
    runtime = tempfile.mkdtemp(prefix="ss")
    shell = Shell(
        tmp_path_factory.getbasetemp(),
        tmp_path_factory.mktemp("bin"),
        XDG_RUNTIME_DIR=runtime,
        XDG_CONFIG_HOME=str(tmp_path_factory.mktemp("config")),
        SMARTSEARCH_DAEMON="always",
        TZ="UTC",
    )
    yield shell
    shell.folder = ROOT
    shell.run("smartsearch serve --stop")
    shutil.rmtree(runtime)


def bare(line: str) -> str:
    return MEASURED.sub("0", " ".join(line.split()))


@pytest.mark.models
@pytest.mark.parametrize(("guide", "heading"), SECTIONS)
def test_the_commands_of_a_section_print_what_stands_below_them(guide, heading, shell, tmp_path):
    furnish(tmp_path)
    shell.folder = tmp_path
    for command in commands(sections(GUIDES[guide])[heading]):
        if any(f" {tool} " in f" {command.line} " and not shutil.which(tool) for tool in NEEDED):
            continue
        run = shell.run(command.line, together=True)
        assert run.returncode == 0, f"$ {command.line}\n{run.stdout}"
        came = {bare(line) for line in run.stdout.splitlines()}
        shown = [bare(line) for line in command.shown]
        assert not shown or shown[0] in came, f"$ {command.line}\n{run.stdout}"
        missing = [line for line in shown if line not in came]
        assert 2 * len(missing) <= len(shown), f"$ {command.line}\n{run.stdout}\nnot there: {missing}"


PAGES = [path for path in DOCUMENTS if "```pycon\n" in path.read_text(encoding="utf-8")]


@pytest.mark.models
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_python_of_a_page_gives_what_stands_below_it(page, tmp_path, monkeypatch):
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    failed, tried = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert (failed, tried > 5) == (0, True)


@pytest.mark.parametrize("page", [*PEOPLE, "mcp", "python"])
def test_a_page_for_a_person_is_short(page):
    """Of words that are read: code blocks are tried, not read."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) <= 400


def test_the_readme_names_make_targets_that_there_are():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z-]+)", GUIDES["README.md"]))
    assert {"demo", "test", "test-all"} <= named
    assert all(f"\n{target}:" in makefile for target in named)


def test_what_is_filled_in_keeps_the_commands_and_the_text_around_them():
    text = "a\n\n```console\n$ one\nold\n$ two\n```\n\n```sh\n$ three\n```\n"
    new = filled(text, lambda line: f"{line}!\n")
    assert new == "a\n\n```console\n$ one\none!\n$ two\ntwo!\n```\n\n```sh\n$ three\n```\n"
    assert commands(new) == commands(filled(new, lambda line: f"{line}!"))


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            lost.append(link)
    assert not lost
