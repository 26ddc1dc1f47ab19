import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "script", "made"),
    [
        ("cli.md", "generate_cli.py", "reference"),
        ("json.md", "generate_cli.py", "contract_page"),
        ("smartsearch.1", "generate_man.py", "page"),
    ],
)
def test_a_page_is_what_the_commands_say(page: str, script: str, made: str):
    generated = runpy.run_path(str(DOCS / script))[made]()
    assert (DOCS / page).read_text(encoding="utf-8") == generated, f"run `python docs/{script}`"
    assert "None |" not in generated, "every option has help"
