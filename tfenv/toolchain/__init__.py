"""Target and the user's choices -> toolchain, or a conflict that explains itself.

Pure: facts in, values out. Each rule is a small function of one module; this one only orders them.
"""

from __future__ import annotations

from tfenv.errors import ConflictError
from tfenv.target import Target, exists
from tfenv.toolchain import abi, base, buildtool, cuda, lookup, nearest, python
from tfenv.toolchain.model import Choices, Chosen, Rejected, Toolchain

__all__ = ["Choices", "Chosen", "Rejected", "Toolchain", "choose"]


def choose(
    target: Target, choices: Choices | None = None, resolved: python.Resolved | None = None
) -> Toolchain:
    """Choose every value of a target's toolchain.

    Args:
        target: what is wanted.
        choices: what the user narrows.
        resolved: a Python lock to take instead of the shipped one.

    Raises:
        ConflictError: a choice breaks a rule; the message names rule, source and what works.
    """
    choices = choices or Choices()
    try:
        return _choose(target, choices, resolved)
    except ConflictError as error:
        if error.fix:
            raise
        fix = nearest.working(target, choices, lambda c: _choose(target, c, resolved))
        raise ConflictError(error.what, error.why, fix) from None


def _choose(target: Target, choices: Choices, resolved: python.Resolved | None) -> Toolchain:
    values: dict[str, Chosen] = {"python": python.python(target, choices)}
    values |= _distribution(target)
    values |= python.packages(target, choices, values["python"].value, resolved)
    values |= buildtool.build_tool(target, choices)
    values |= base.base_and_compiler(target, choices)
    values |= abi.abi(target, values["base"].value)
    if target.cuda:
        values |= cuda.cuda(target, choices, values["compiler"].value)
    elif choices.cuda or choices.cudnn or choices.gpu:
        raise ConflictError(
            f"{target.name} has no CUDA to choose",
            "--cuda, --cudnn and --gpu are for the cuda variant",
            f"ask for {_cuda_of(target)}",
        )
    if choices.march:
        reason = f"--march {choices.march}: the build is for that processor and newer ones"
        values["march"] = Chosen(choices.march, "user", reason, "the user's choice")
    return Toolchain(target, choices, values)


def _cuda_of(target: Target) -> str:
    """The CUDA target of the same release, on the same platform if there is one."""
    own = Target(target.version, "cuda", target.platform)
    return own.name if exists(own) else f"{target.version}-cuda"


def _distribution(target: Target) -> dict[str, Chosen]:
    row = lookup.any_wheel(target)
    if row is None:
        return {}
    reason = f"the released wheel of {target.version} for {target.platform}, {row.variant} build"
    return {"distribution": Chosen(lookup.requirement(target), "wheel", reason, row.source)}
