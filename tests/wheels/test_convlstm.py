"""The reference of ConvLSTM2D against plain loops, and its bound against small errors."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tfenv.resources import suite
from tfenv.verify.environment import Environment

pytestmark = pytest.mark.tf

SCRIPT = """
import math, sys
sys.path.extend(sys.argv[1:])
import numpy as np
from tfsuite import convlstm
from tfsuite.checks import Wrong

r = np.random.RandomState(1)
x = r.uniform(-1, 1, (1, 2, 3, 4, 2)).astype("float32")
weights = convlstm.weights(2, 3, 2)
kernel, recurrent, bias = [w.astype("float64") for w in weights]


def at(image, kernel, i, j, f):
    total = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(image.shape[2]):
                p, q = i + a - 1, j + b - 1
                if 0 <= p < image.shape[0] and 0 <= q < image.shape[1]:
                    total += image[p, q, c] * kernel[a, b, c, f]
    return total


s = lambda v: 1 / (1 + math.exp(-v))
h = np.zeros((3, 4, 3))
c = np.zeros((3, 4, 3))
outputs = []
for t in range(2):
    nh, nc = h.copy(), c.copy()
    for i in range(3):
        for j in range(4):
            for f in range(3):
                gate = [
                    at(x[0, t].astype("float64"), kernel, i, j, g * 3 + f)
                    + at(h, recurrent, i, j, g * 3 + f) + bias[g * 3 + f]
                    for g in range(4)
                ]
                nc[i, j, f] = s(gate[1]) * c[i, j, f] + s(gate[0]) * math.tanh(gate[2])
                nh[i, j, f] = s(gate[3]) * math.tanh(nc[i, j, f])
    h, c = nh, nc
    outputs.append(h)
(want, bound), (cell, _) = convlstm.run(x, weights)
print("outputs", float(np.max(abs(want[0] - np.stack(outputs)))) < 1e-14)
print("cell", float(np.max(abs(cell[0] - c))) < 1e-14)
print("tight", float(np.max(bound)) < 1e-4)
convlstm.hold(want, want, bound)
for name, off in (("large", want * (1 + 1e-3)), ("one", want + (want == want.max()) * 1e-3),
                  ("nan", want * np.nan), ("shape", want[:, :1])):
    try:
        convlstm.hold(off, want, bound)
        print(name, False)
    except Wrong:
        print(name, True)
"""


def test_the_reference_and_its_bound(healthy: Callable[[str], Environment]) -> None:
    python = healthy("2.6.5-cpu").python
    done = subprocess.run(
        [str(python), "-I", "-c", SCRIPT, str(suite() / "lib")],
        check=True,
        capture_output=True,
        text=True,
    )
    said = dict(line.split() for line in done.stdout.splitlines())
    assert said == dict.fromkeys(
        ["outputs", "cell", "tight", "large", "one", "nan", "shape"], "True"
    )
