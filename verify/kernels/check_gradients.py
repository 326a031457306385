"""Gradients by autodiff, in float64."""

import pytest
from tfsuite import kernels_gradient
from tfsuite.checks import check


@check(
    "kernels.gradient_unary",
    proves="The gradient of a function of one argument is its exact derivative.",
    catches=["tanh-gradient-sign"],
)
@pytest.mark.parametrize("name", kernels_gradient.UNARY)
def check_gradient_unary(name):
    return kernels_gradient.unary(name)


@check(
    "kernels.gradient_binary",
    proves="Both gradients of a function of two arguments are its partial derivatives.",
    catches=["pow-gradient-swapped"],
)
@pytest.mark.parametrize("name", kernels_gradient.BINARY)
def check_gradient_binary(name):
    return kernels_gradient.binary(name)


@check(
    "kernels.gradient_numeric",
    proves="Gradients of products, convolutions and losses equal differences of the kernel itself.",
    catches=["conv-gradient-flipped"],
)
@pytest.mark.parametrize("name", kernels_gradient.differentiable())
def check_gradient_numeric(name):
    return kernels_gradient.numeric("nn", name)
