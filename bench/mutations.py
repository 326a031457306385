"""The mutation exam: every broken subject must fail, by the check that names it.

    nox -s exam -- [--again] [TARGET] [NAME…]

prints a table: what was broken, which checks failed, how long it took, and writes it to
docs/evidence/exam.md. Finished verdicts are kept. See tests/wheels/exam.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.wheels import exam

if __name__ == "__main__":
    sys.exit(exam.main(sys.argv[1:]))
