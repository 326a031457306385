"""The Python part of a lock for Python 3.5, which uv does not know.

The same request is resolved for 3.6, and each version then has to hold for 3.5 too: by its
Requires-Python, by a file that fits, and by requirements that do not differ between the two. What
was resolved for 3.6 is then a solution for 3.5. Where one of these fails, there is no lock.
"""

from __future__ import annotations

import re

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tfenv.errors import ConflictError
from tfenv.facts.pinned import Pinned, PythonPins, render
from tfenv.facts.update import index as asked
from tfenv.facts.update import listing, opened
from tfenv.lock import resolve

OLD, STAND_IN = "3.5", "3.6"
METHOD = "resolved for 3.6, then every version held to 3.5: uv knows no older Python than 3.6"
_ENVIRONMENTS = {
    "windows-x86_64": {
        "sys_platform": "win32",
        "platform_system": "Windows",
        "platform_machine": "AMD64",
        "os_name": "nt",
    }
}
# What a setup.py says when it asks for other things on one Python than on the next.
_TELLS_APART = re.compile(r"3\s*[.,]\s*[56]\b|sys\.version|python_version")


def lock(request: resolve.Request, title: str, header: dict[str, str]) -> resolve.Locked:
    """Resolve `request` for Python 3.5.

    Raises:
        ConflictError: a version of the solution for 3.6 does not hold for 3.5.
        DownloadError: the index did not answer.
    """
    index = asked.Index(asked.configured(request.index), request.as_of)
    header = {**header, "method": METHOD}
    stand_in = msgspec.structs.replace(request, python=STAND_IN)
    main = resolve.resolve(stand_in)
    old = [_held(pin, request, index, main) for pin in main.pins.pins]
    build = ""
    if any(pin.is_sdist for pin in old):
        # The archives are the same ones; only wheels differ between the two Pythons.
        wanted = resolve.build_request(stand_in, main)
        bounded = msgspec.structs.replace(wanted, constraints=request.constraints)
        tools = resolve.resolve(bounded)
        held = tuple(_held(pin, request, index, tools) for pin in tools.pins.pins)
        build = render(PythonPins(header, held), f"{title}, build tools")
    return resolve.Locked(render(PythonPins(header, tuple(old)), title), build)


def _held(
    pin: Pinned, request: resolve.Request, index: asked.Index, found: resolve.Resolved
) -> Pinned:
    """The same version's best file for 3.5."""
    ranks = resolve.tag_ranks(request)
    best: tuple[int, listing.File] | None = None
    for file in index.files(pin.name):
        name = listing.wheel_name(file)
        if file.filename == pin.file and name is None:
            best = best or (len(ranks), file)  # the source archive, if no wheel fits
        if name is None or str(name.version) != pin.version or not file.sha256:
            continue
        rank = resolve.file_rank(file.filename, ranks)
        if rank is not None and (best is None or rank < best[0]):
            best = (rank, file)
    if best is None:
        raise _conflict(pin, "no file of it fits Python 3.5")
    file = best[1]
    if not SpecifierSet(file.requires_python or "").contains(f"{OLD}.4"):
        raise _conflict(pin, f"its Requires-Python is {file.requires_python}")
    if listing.wheel_name(file) is None:
        data = resolve.download(pin, found.urls[pin.file])
        script = resolve.archive_text(pin, data, "setup.py") or ""
        if _TELLS_APART.search(_without_classifiers(script)):
            raise _conflict(pin, "its setup.py may ask for other things on 3.5 than on 3.6")
    else:
        wanted = opened.requirements(index, pin.name, file)
        if differing := [text for text in wanted if _differs(text, request.platform)]:
            raise _conflict(pin, f"it asks for {', '.join(differing)}")
    return Pinned(pin.name, pin.version, file.filename, file.size, file.sha256)


def _differs(requirement: str, platform: str) -> bool:
    """Whether a requirement holds on one of the two Pythons and not on the other."""
    marker = Requirement(requirement).marker
    if marker is None:
        return False
    here = {**_ENVIRONMENTS[platform], "extra": ""}
    answers = [
        marker.evaluate({**here, "python_version": v, "python_full_version": f"{v}.4"})
        for v in (OLD, STAND_IN)
    ]
    return answers[0] != answers[1]


def _without_classifiers(script: str) -> str:
    return re.sub(r"['\"]Programming Language :: Python[^'\"]*['\"]", "", script)


def _conflict(pin: Pinned, why: str) -> ConflictError:
    return ConflictError(
        f"{pin.name} {pin.version}, resolved for Python {STAND_IN}, does not hold for {OLD}",
        why,
        f"choose --python {STAND_IN}",
    )
