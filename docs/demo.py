"""`make demo`: three questions over the sample transcripts, each shown as its command and its answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SAMPLES = Path("docs/samples")
COMMANDS = (
    ["query", "Why does Pickle limp?", str(SAMPLES), "-n", "3"],
    ["query", "Where is the workshop of the man who quoted 340 euros?", str(SAMPLES), "-n", "3"],
    ["query", "who could lend leonie a small accordion", str(SAMPLES), "-n", "2", "--explain"],
)


def main() -> int:
    """Run the commands one after the other; the first exit code that is not 0 ends it."""
    os.chdir(Path(__file__).parent.parent)
    for command in COMMANDS:
        print(
            "\n$ smartsearch " + " ".join(f'"{word}"' if " " in word else word for word in command),
            flush=True,
        )
        # This installation, not one that runs.
        alone = os.environ | {"SMARTSEARCH_DAEMON": "never"}
        code = subprocess.run(
            [sys.executable, "-m", "smartsearch", *command], env=alone, check=False
        ).returncode
        if code:
            return code
    print("\nNow your own: .venv/bin/smartsearch query QUESTION PATH...   (--help tells the rest)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
