"""The Python lock of a target: what is asked, of which date, and where the answer is kept."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tfenv.errors import ConflictError
from tfenv.facts.pinned import PythonPins, parse, stem
from tfenv.files import write_text
from tfenv.lock import old_python, resolve
from tfenv.target import Target, within
from tfenv.toolchain import lookup

TITLE = "tfenv python lock 1"
# The index as it stood this many days after the first file of the release: soon enough that later
# drift is out, late enough that companions (keras, estimator) of the same release are in. Where
# nothing satisfies the release so early, later dates are tried in this order.
AS_OF_DAYS = (9, 60, 180, 365, 730)


class Answer(msgspec.Struct, frozen=True):
    """The two files of a Python lock, and the name that both share."""

    stem: str
    text: str
    build_text: str

    def files(self) -> dict[str, str]:
        """File names and contents."""
        found = {f"{self.stem}.txt": self.text}
        if self.build_text:
            found[f"{self.stem}.build.txt"] = self.build_text
        return found


def requests(
    target: Target, python: str, index: str = "", numpy: str = "", interpreter: str = ""
) -> Iterator[tuple[resolve.Request, dict[str, str]]]:
    """What to ask for a target, the earliest date first, with the header that records it.

    Raises:
        ConflictError: the target has no wheel, so there is nothing to resolve.
    """
    row = lookup.any_wheel(target)
    if row is None:
        raise ConflictError(
            f"{target.name} has no wheel to resolve",
            "the release was not published for that platform",
            "see `tfenv list`",
        )
    wanted = lookup.requirement(target)
    pins = lookup.pins(target, python)
    constraints = [f"{pin.package}{pin.constraint}" for pin in pins]
    if numpy:
        constraints.append(f"numpy=={numpy}.*" if numpy.count(".") < 2 else f"numpy=={numpy}")
    extra = [f"{pin.package}{pin.constraint}" for pin in pins if pin.extra_requirement]
    released = datetime.date.fromisoformat(row.date)
    for days in AS_OF_DAYS:
        as_of = str(released + datetime.timedelta(days=days))
        request = resolve.Request(
            requirements=(wanted, *extra),
            python=python,
            platform=target.platform,
            as_of=as_of,
            glibc=_glibc(target, row.tag),
            constraints=tuple(constraints),
            newer=_newer(as_of),
            index=index,
            interpreter=interpreter,
        )
        header = {"requirement": wanted, "python": python, "platform": target.platform}
        header |= {"as-of": as_of}
        if constraints:
            header["pins"] = ", ".join(constraints)
        yield request, header


def _glibc(target: Target, tag: str) -> str:
    """The newest glibc that a chosen file may need.

    2.17 is what nearly all releases need themselves. What 2.19 and newer depend on (ml-dtypes 0.5.3,
    optree 0.17, numpy 2.3) has wheels for 2.27 and 2.28 only, and would be compiled otherwise.
    """
    own = "manylinux_2_" in tag and "_2_17" not in tag
    return "2.28" if own or within(target.version, ">=2.19") else "2.17"


def _newer(as_of: str) -> tuple[tuple[str, str], ...]:
    if as_of >= resolve.BUILD_TOOLS_SINCE:
        return ()
    date = resolve.BUILD_TOOLS_AS_OF
    return (("setuptools", date), ("wheel", date))


def lock(
    target: Target, python: str, index: str = "", numpy: str = "", interpreter: str = ""
) -> Answer:
    """Resolve the Python part of a target.

    Raises:
        ConflictError: nothing satisfies the release at any of the dates.
        DownloadError: the index could not be reached.
    """
    failure: ConflictError | None = None
    for request, header in requests(target, python, index, numpy, interpreter):
        try:
            make = old_python.lock if python == old_python.OLD else resolve.lock
            locked = make(request, TITLE, header)
        except ConflictError as error:
            failure = failure or error
            continue
        name = stem(lookup.requirement(target), python, target.platform)
        return Answer(name, locked.text, locked.build_text)
    assert failure is not None
    raise failure


def write(answer: Answer, folder: Path) -> list[Path]:
    """Write both files of a lock below `folder`; gives the paths."""
    paths = []
    if not answer.build_text:
        (folder / f"{answer.stem}.build.txt").unlink(missing_ok=True)
    for name, text in answer.files().items():
        write_text(folder / name, text)
        paths.append(folder / name)
    return paths


def differences(old: str, new: str) -> list[str]:
    """What changed between two Python locks, one line per package."""
    before, after = _versions(parse(old, "old")), _versions(parse(new, "new"))
    lines = []
    for name in sorted(before | after):
        was, now = before.get(name), after.get(name)
        if was != now:
            lines.append(f"{name}: {was or 'absent'} -> {now or 'absent'}")
    return lines


def _versions(pins: PythonPins) -> dict[str, str]:
    return {p.name: f"{p.version} ({p.file})" for p in pins.pins}
