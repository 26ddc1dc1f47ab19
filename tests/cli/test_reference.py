from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_what_the_commands_say():
    made = runpy.run_path(str(DOCS / "generate_cli.py"))
    for name, page in (("cli.md", made["reference"]), ("json.md", made["contract_page"])):
        assert (DOCS / name).read_text(encoding="utf-8") == page(), "run `python docs/generate_cli.py`"


def test_the_man_page_is_what_the_commands_say():
    generated = runpy.run_path(str(DOCS / "generate_man.py"))["page"]()
    assert (DOCS / "smartsearch.1").read_text(encoding="utf-8") == generated, (
        "run `python docs/generate_man.py`"
    )


def test_every_option_has_help():
    generated = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert "None |" not in generated
