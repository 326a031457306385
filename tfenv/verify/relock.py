"""Write suite locks: `python -m tfenv.verify.relock TARGET…`.

A suite lock holds what the suite needs in the subject's Python beside the subject's own packages,
resolved with these as constraints, so that nothing in it can ask for another version of them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tfenv.facts import pinned
from tfenv.files import write_text
from tfenv.lock import resolve
from tfenv.target import Target, parse
from tfenv.toolchain import lookup
from tfenv.toolchain.python import supported_pythons

REQUIREMENTS = ("pytest>=7.0", "mpmath>=1.2", "hypothesis>=6.0", "nbclient>=0.5", "ipykernel>=5.0")
# What packages need and do not say: IPython 8.23.0 imports TypeAliasType of typing-extensions 4.6,
# referencing 0.36.0 the defaults of type variables of 4.4, and both ask for any.
UNSAID = ("ipython!=8.23.0", "referencing!=0.36.0")
AS_OF = "2026-11-01"
FOLDER = Path(__file__).resolve().parents[1] / "locks" / "suite"


def suite_pins(pins: pinned.PythonPins, python: str, target: Target) -> pinned.PythonPins:
    """Resolve the suite's packages beside `pins`, and leave out what the subject has."""
    request = resolve.Request(
        requirements=REQUIREMENTS,
        python=python,
        platform=target.platform,
        as_of=AS_OF,
        constraints=(*(f"{pin.name}=={pin.version}" for pin in pins.pins), *UNSAID),
        wheels_only=True,  # nothing is compiled on the machine that verifies
    )
    have = {pin.name for pin in pins.pins}
    found = resolve.resolve(request).pins.pins
    header = {
        "requirement": " ".join(REQUIREMENTS),
        "beside": lookup.requirement(target),
        "python": python,
        "platform": target.platform,
        "as-of": AS_OF,
    }
    return pinned.PythonPins(header, tuple(pin for pin in found if pin.name not in have))


def main(names: list[str]) -> None:
    """Write the suite lock of every Python lock of these targets."""
    for target in map(parse, names):
        for python in supported_pythons(target)[0]:
            found = lookup.python_lock(target, python)
            if found is not None:
                file, pins = found
                text = pinned.render(suite_pins(pins, python, target), f"suite lock beside {file}")
                write_text(FOLDER / file, text)
                sys.stdout.write(f"{FOLDER / file}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
