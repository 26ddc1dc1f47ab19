"""The extras: optional packages, what shows that they are installed, and the command that brings them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from smartsearch.errors import SmartsearchError

EXTRAS: dict[str, tuple[str, ...]] = {
    "hub": ("torch", "sentence_transformers", "pylate"),
    "batch": ("pyarrow", "fsspec"),
    "train": ("torch", "sentence_transformers", "pylate", "onnx"),
    "bench": ("ir_measures", "scipy", "bm25s", "simplemma", "ijson", "matplotlib", "jinja2"),
    "llm": ("openai",),
    "mcp": ("mcp",),
    "ray": ("ray", "pandas"),
}
"""The modules that each extra of pyproject.toml brings."""


def needs(extra: str) -> str:
    """The sentence for the help of an option."""
    return f"needs `{_installing(extra)}`"


def lacking(extra: str) -> list[str]:
    """The modules of an extra that are not installed. None is imported."""
    return [name for name in EXTRAS[extra] if not _is_there(name)]


def require(extra: str, what: str) -> None:
    """See that an extra is installed before `what`, a command or an option, begins.

    Raises SmartsearchError of the kind "package".
    """
    if missing := lacking(extra):
        raise SmartsearchError(
            f"{what} needs {', '.join(missing)}, not installed", hint=command(extra), kind="package"
        )


def command(extra: str) -> str:
    """The command that brings an extra to the environment that runs: a tool's own has no pip to call."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").is_file():
        return f"uv {_installing(extra).replace('install', f'install --python {prefix}')}"
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx runpip smartsearch {_installing(extra).removeprefix('pip ')}"
    return _installing(extra)


def _installing(extra: str) -> str:
    return f"pip install 'smartsearch[{extra}]'"


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ValueError:  # another module, or None, stands in its place
        return sys.modules.get(name) is not None
