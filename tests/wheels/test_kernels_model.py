"""The error model of the kernels' checks sees errors, and only errors: in a subject's own Python."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from tfenv.resources import suite
from tfenv.verify.environment import Environment

pytestmark = pytest.mark.tf

# name: a body that must end in Wrong, or must not.
RIGHT = {
    "half an ulp": "ulp.hold(x, [E(x + h / 2)], 'float64', 0.5, [x])",
    "the same NaN": "ulp.hold(A([nan]), [E(A([nan]))], 'float32', 0, [A([nan])])",
    "infinity for an overflow": "ulp.hold(A([inf]), [E(A([1e39]))], 'float32', 0.5, [A([0.0])])",
    "a flushed denormal": "ulp.hold(A([0.0]), [E(A([1e-40]))], 'float32', 0.5, [A([0.0])])",
    "another order of a sum": "numerics.contraction(A([1 + 5e-7]), A([1.0]), A([1.0]), 'float32')",
    "equal with NaN": "kernels.same(A([nan, 1.0]), A([nan, 1.0]))",
    "wrapped": "kernels.same(kernels_binary.wrapped([2**31], 'int32'), A([-2**31]))",
    "exp": "kernels.same(reference.exact('exp', A([0.0, 1.0])).value, A([1.0, np.e]))",
    "lgamma": "kernels.same(reference.exact('lgamma', A([1.0])).value, A([0.0]))",
    "slope": "kernels.same(reference.derivative('sin', A([0.0])).value, A([1.0]))",
    "sum": "kernels.same(reference.total(A([[1e16, 1.0, -1e16]]), (1,)), A([1.0]))",
    "bfloat16": "kernels.same(ulp.rounded(A([1.00390625]), 'bfloat16'), A([1.0]))",
}
WRONG = {
    "fifty ulps": "ulp.hold(x * (1 + 50 * 2.0**-23), [E(x)], 'float32', 2, [x])",
    "one in a thousand": "numerics.contraction(A([1.001]), A([1.0]), A([1.0]), 'float32')",
    "a NaN": "ulp.hold(A([nan]), [E(A([1.0]))], 'float32', 1e9, [A([1.0])])",
    "a number for NaN": "ulp.hold(A([1.0]), [E(A([nan]))], 'float32', 1e9, [A([1.0])])",
    "an infinity": "ulp.hold(A([inf]), [E(A([1.0]))], 'float32', 1e9, [A([1.0])])",
    "the other infinity": "ulp.hold(A([-inf]), [E(A([inf]))], 'float32', 1e9, [A([1.0])])",
    "half of the elements": "ulp.hold(x[:1], [E(x)], 'float32', 2, [x])",
    "a NaN in a sum": "numerics.contraction(A([nan]), A([1.0]), A([1.0]), 'float32')",
    "another element": "kernels.same(A([1.0, 2.0]), A([1.0, 3.0]))",
    "another shape": "kernels.same(A([[1.0]]), A([1.0]))",
    "text": "kernels_rows.texts(A([b'a'], object), A([b'b'], object))",
    "an imaginary part": "numerics.contraction(A([1 + 1j]), A([1 + 2j]), A([1.0]), 'complex64')",
}
SCRIPT = """
import sys
sys.path.extend(sys.argv[1:])
import numpy as np
from tfsuite import kernels, kernels_binary, kernels_rows, numerics, reference, ulp
from tfsuite.checks import Wrong
A, E, nan, inf = np.array, ulp.Exact, float("nan"), float("inf")
x = A([1.0, -3.0, 1e-3])
h = ulp.spacing(x, "float64")
for name, body in {right!r}.items():
    try:
        eval(body)
    except Wrong as error:
        print("%s is refused: %s" % (name, error))
for name, body in {wrong!r}.items():
    try:
        eval(body)
        print("%s is not seen" % name)
    except Wrong:
        pass
print("done")
"""


def test_errors_are_seen_and_only_errors(healthy: Callable[[str], Environment]) -> None:
    subject = healthy("2.6.5-cpu")
    script = SCRIPT.format(right=RIGHT, wrong=WRONG)
    done = subprocess.run(
        [str(subject.python), "-I", "-c", script, str(subject.site), str(suite() / "lib")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["done"], done.stderr
