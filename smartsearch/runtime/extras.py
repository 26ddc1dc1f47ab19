"""The extras: optional packages, what shows that they are installed, and the command that brings them."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from smartsearch.errors import SmartsearchError

DISTRIBUTION = "smartsearch-cli"
"""The name to install; `smartsearch` in the registry belongs to somebody else."""
EXTRAS: dict[str, tuple[str, ...]] = {
    "spacy": ("spacy",),
    "hub": ("spacy", "torch", "sentence_transformers", "pylate", "json_repair"),
    "qr": ("torch", "transformers"),
    "batch": ("pyarrow", "fsspec"),
    "train": ("torch", "sentence_transformers", "pylate", "onnx"),
    "bench": ("bm25s", "simplemma", "ijson"),
    "llm": ("openai", "json_repair"),
    "mcp": ("mcp",),
    "ray": ("ray", "pandas"),
}
"""The modules that each extra of pyproject.toml brings."""


def needs(extra: str) -> str:
    """What the help of an option says of its extra."""
    return f"needs `pip install '{DISTRIBUTION}[{extra}]'`"


def lacking(extra: str) -> list[str]:
    """The modules of an extra that are not installed. None is imported."""
    return [name for name in EXTRAS[extra] if not _is_there(name)]


def require(extra: str, what: str) -> None:
    """Check that an extra is installed, before `what` (a command or an option) begins.

    Raises SmartsearchError of the kind "package".
    """
    if missing := lacking(extra):
        said = f"{what} needs packages that are not installed: {', '.join(missing)}"
        raise SmartsearchError(said, hint=command(extra), kind="package")


def command(*extras: str) -> str:
    """The command that brings extras to the environment that runs."""
    return installing(f"{DISTRIBUTION}[{','.join(extras)}]")


def installing(requirement: str) -> str:
    """The command that installs a requirement where this runs, whichever `pip` is first on the path.

    The `pip` of another environment would install the `smartsearch` of PyPI, which is not ours.
    """
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv pip install --python {prefix} '{requirement}'"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx runpip {prefix.name} install '{requirement}'"
    python = Path(sys.executable)
    if not _is_there("pip"):
        return f"uv pip install --python {shlex.quote(str(python))} '{requirement}'"
    found = shutil.which("pip")
    own = found is not None and Path(found).parent.resolve() == python.parent.resolve()
    return f"{'pip' if own else f'{shlex.quote(str(python))} -m pip'} install '{requirement}'"


def pipeline(name: str) -> str:
    """The command that installs a spaCy pipeline where this runs: spaCy's own needs pip."""
    if _is_there("pip"):
        return f"{shlex.quote(sys.executable)} -m spacy download {name}"
    from importlib.metadata import version

    wheel = f"{name}-{'.'.join(version('spacy').split('.')[:2])}.0"
    releases = "https://github.com/explosion/spacy-models/releases/download"
    return installing(f"{name} @ {releases}/{wheel}/{wheel}-py3-none-any.whl")


def require_pip(name: str) -> None:
    """Check that spaCy can download a pipeline. Raises SmartsearchError of the kind "package"."""
    if not _is_there("pip"):
        said = f"spaCy's download of {name} needs pip, which this environment does not have"
        raise SmartsearchError(said, hint=pipeline(name), kind="package")


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # another module, or None, stands in its place
        return sys.modules.get(name) is not None
