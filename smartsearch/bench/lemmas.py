"""The dictionary form of English words, from `simplemma`: for the lexical rivals and the lemma control."""

from __future__ import annotations

from functools import lru_cache

from smartsearch.errors import SmartsearchError


@lru_cache(maxsize=200_000)
def lemma(word: str) -> str:
    """The lemma of a case-folded word (`painted` -> `paint`), the word itself where it is unknown.

    Raises SmartsearchError (kind "package") where `simplemma` is missing.
    """
    try:
        import simplemma
    except ImportError as error:
        raise SmartsearchError(
            "lemmas need the package simplemma", hint="pip install 'smartsearch[bench]'", kind="package"
        ) from error
    return str(simplemma.lemmatize(word, lang="en"))
