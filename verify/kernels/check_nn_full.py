"""Products, convolutions, pooling, losses and transforms in their other types."""

import pytest
from tfsuite import kernels_nn
from tfsuite.checks import check

CASES = [
    (table, name, dtype)
    for table in sorted(kernels_nn.TABLES)
    for name, row in sorted(kernels_nn.TABLES[table].items())
    for dtype in row.dtypes[1:]
]


@check(
    "kernels.nn_types",
    proves="Products, convolutions and transforms are within their bounds in every type.",
    catches=["matmul-double-in-single"],
)
@pytest.mark.parametrize("table,name,dtype", CASES)
def check_nn_types(table, name, dtype):
    return kernels_nn.hold(table, name, dtype)
