"""Target and the user's choices -> toolchain, or a conflict that explains itself.

Pure: facts in, values out. Each rule is a small function of one module; this one only orders them.
"""

from __future__ import annotations

from tfenv.errors import ConflictError
from tfenv.target import Target
from tfenv.toolchain import abi, base, buildtool, cuda, lookup, python
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
            f"ask for {target.version}-cuda",
        )
    if choices.march:
        reason = f"--march {choices.march}: the build is for that processor and newer ones"
        values["march"] = Chosen(choices.march, "user", reason, "the user's choice")
    return Toolchain(target, choices, values)


def _distribution(target: Target) -> dict[str, Chosen]:
    row = lookup.any_wheel(target)
    if row is None:
        return {}
    reason = f"the released wheel of {target.version} for {target.platform}, {row.variant} build"
    return {"distribution": Chosen(lookup.requirement(target), "wheel", reason, row.source)}
