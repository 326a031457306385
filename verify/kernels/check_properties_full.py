"""Properties that hold for every input, searched by hypothesis."""

import pytest
from tfsuite import kernels_properties
from tfsuite.checks import check


@check(
    "kernels.property",
    proves="No input that hypothesis tries breaks the property; a broken one is shrunk.",
    catches=["transpose-wrong-for-rank-4"],
)
@pytest.mark.parametrize("name", sorted(kernels_properties.PROPERTIES))
def check_property(name):
    return kernels_properties.hold(name)
