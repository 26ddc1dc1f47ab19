"""Names that stand for ids in a text: four characters may stand for a long name as often as one likes."""

from __future__ import annotations

from smartsearch.transcripts.faults import FormatError

MOST = 1 << 24
"""Characters of names put into the texts of one file: some million mentions."""


class Mentions(dict[str, str]):
    """Names by id, for as much as may be asked of them."""

    left = MOST

    def name(self, known: str) -> str:
        """The name of an id, or "". Raises FormatError `too_large` once all names given are too much."""
        found = self.get(known) or ""
        self.left -= len(found)
        if self.left < 0:
            said = f"the names that its mentions stand for come to more than {MOST:,} characters"
            raise FormatError(said, kind="too_large")
        return found
