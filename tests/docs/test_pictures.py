"""The pictures of the documents are what the records and the command say."""

import runpy
from xml.etree import ElementTree

import pytest

from tests.docs.shell import ROOT

MADE = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
PICTURES = sorted(MADE["PICTURES"].iterdir())
WRITE = "run `python docs/pictures.py`"


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_whole_and_loads_nothing(picture):
    text = picture.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert text.count("http") == text.count("http://www.w3.org/2000/svg")


@pytest.mark.parametrize(
    "picture", [one for one in PICTURES if one.name != "terminal.svg"], ids=lambda path: path.name
)
def test_a_plot_is_of_its_record(picture):
    assert picture.read_text(encoding="utf-8") == MADE["MADE"][picture.name](), WRITE


@pytest.mark.docs
@pytest.mark.models
def test_the_terminal_prints_what_the_picture_shows():
    shown = MADE["said"]((MADE["PICTURES"] / "terminal.svg").read_text(encoding="utf-8"))
    assert "smartsearch when did Maya" in shown[0]
    assert shown == MADE["said"](MADE["terminal"]()), WRITE
