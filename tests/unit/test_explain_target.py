"""What the target says never outweighs what the log says."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

LOG = "nvcc fatal   : Unsupported gpu architecture 'compute_86'\n"


@pytest.mark.parametrize("target", [(), ("--target", "2.6.5-cuda"), ("--target", "1.15.5-cuda")])
def test_nvcc_that_refuses_a_card_is_too_old_whatever_the_target(target: tuple[str, ...]) -> None:
    """The target's CUDA 11.3 knows sm_86: then another nvcc ran, and it did not drop the card."""
    done = subprocess.run(
        [sys.executable, "-m", "tfenv", "explain", "-", "--json", *target],
        input=LOG,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["root_cause"] == "nvcc-arch-too-new"
