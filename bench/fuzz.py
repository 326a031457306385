"""Run every fuzzer of the tests, one after the other: `./noxw -s fuzz [-- SECONDS [SEED]]`.

SECONDS is for each of them; 600 without an argument, 30 when CI is set.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    arguments = sys.argv[1:] or ["30" if os.environ.get("CI") else "600"]
    modules = sorted(path.stem for path in (ROOT / "tests").glob("fuzz_*.py"))
    codes = [
        subprocess.run(
            [sys.executable, "-W", "error", "-m", f"tests.{module}", *arguments],
            cwd=ROOT,
            check=False,
        ).returncode
        for module in modules
    ]
    return max(codes, default=1)


if __name__ == "__main__":
    sys.exit(main())
