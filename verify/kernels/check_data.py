"""Pictures, text, sparse and ragged tensors, control flow."""

import pytest
from tfsuite import kernels_data
from tfsuite.checks import check


def first(table):
    return [(name, row.dtypes[0]) for name, row in sorted(kernels_data.TABLES[table].items())]


@check(
    "kernels.image",
    proves="Pictures are resized, converted, cut and coded as their definitions say.",
    catches=["resize-half-pixel"],
)
@pytest.mark.parametrize("name,dtype", first("image"))
def check_image(name, dtype):
    return kernels_data.hold("image", name, dtype)


@check(
    "kernels.string",
    proves="Text is joined, cut, matched, coded and hashed as Python does.",
    catches=["substr-off-by-one"],
)
@pytest.mark.parametrize("name,dtype", first("string"))
def check_string(name, dtype):
    return kernels_data.hold("string", name, dtype)


@check(
    "kernels.sparse",
    proves="Sparse operations equal the dense ones on the same elements.",
    catches=["sparse-matmul-drops-last"],
)
@pytest.mark.parametrize("name,dtype", first("sparse"))
def check_sparse(name, dtype):
    return kernels_data.hold("sparse", name, dtype)


@check(
    "kernels.ragged",
    proves="Ragged tensors keep each row's own length, empty rows included.",
    catches=["ragged-pads-with-one"],
)
@pytest.mark.parametrize("name,dtype", first("ragged"))
def check_ragged(name, dtype):
    return kernels_data.hold("ragged", name, dtype)


@check(
    "kernels.control",
    proves="Branches, loops, scans and their gradients compute what they are written to.",
    catches=["loop-stops-early"],
)
@pytest.mark.parametrize("name,dtype", first("control"))
def check_control(name, dtype):
    return kernels_data.hold("control", name, dtype)
