"""The platform tag that a built wheel has earned.

TensorFlow's own build names its wheel `linux_x86_64`, which promises nothing and which no index
takes. Where the libraries keep a manylinux policy, the wheel gets that policy's tag: its name,
WHEEL and RECORD change, nothing else (what `auditwheel repair` does for a wheel that needs no
library grafted in).
"""

from __future__ import annotations

from pathlib import Path

from tfenv.wheel import rewrite, tags
from tfenv.wheel.inspect import Inspection


def kept_back(found: Inspection) -> str:
    """Why a wheel cannot have another tag than it claims; empty: nothing speaks against it."""
    if found.bring:
        return f"it needs {', '.join(found.bring[:5])}, which no manylinux policy lets it expect"
    if not found.tags.real.startswith("manylinux"):
        return f"its libraries need glibc {found.glibc}, which no manylinux policy is known for"
    outside = [part for part in found.rpath if part and not part.startswith("$ORIGIN")]
    if outside:
        return f"its libraries look for others in {outside[0]}, a folder of the build machine"
    return ""


def wants_tag(found: Inspection) -> bool:
    """Whether it is a wheel for Linux that promises nothing so far."""
    claims = found.tags.claimed
    return bool(found.tags.real and claims) and all(one.startswith("linux_") for one in claims)


def retag(wheel: Path, found: Inspection, folder: Path) -> Path:
    """A copy of the wheel in `folder`, with the tag that its libraries honour.

    Raises:
        BadWheelError: the wheel cannot be rewritten.
    """
    platforms = tags.spellings(found.tags.real)
    name = f"{wheel.stem.rpartition('-')[0]}-{'.'.join(platforms)}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    rewrite.retag(wheel, folder / name, platforms)
    return folder / name
