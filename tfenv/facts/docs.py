"""Reference pages made from the facts: `python -m tfenv.facts.docs docs/reference` writes them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from packaging.version import Version

from tfenv import facts, files
from tfenv.facts import schema, table

_MADE = "<!-- Made from tfenv/facts by `python -m tfenv.facts.docs docs/reference`. -->\n"
_PLATFORMS: dict[str, str] = {
    "linux-x86_64": "Linux x86_64",
    "linux-aarch64": "Linux arm64",
    "macos-x86_64": "macOS x86_64",
    "macos-arm64": "macOS arm64",
    "windows-x86_64": "Windows",
}


def pages() -> dict[str, str]:
    """File name and text of every page."""
    return {
        "facts.md": _tables(),
        "facts-releases.md": _releases(),
        "facts-cuda.md": _cuda(),
        "facts-gpus.md": _gpus(),
        "facts-pins.md": _pins(),
        "facts-mirrors.md": _mirrors(),
    }


def _tables() -> str:
    parts = [
        "# The tables of facts\n",
        (
            "Everything that tfenv derives a toolchain from stands in these tables, in `tfenv/facts`, "
            "one row per line. Every row has a `source`; `note` says where sources differ, what was "
            "inferred, and which value was taken. An empty value means: not known.\n"
        ),
        (
            "`tfenv facts check` holds the tables to their rules and to each other. "
            "`tfenv facts update` asks the package index for new releases: it writes the rows that "
            "an index proves, marks in them what it does not prove, and names for every other "
            "table why an index cannot, and where a person looks.\n"
        ),
    ]
    kept = {row.table: row for row in facts.rows(schema.Upkeep)}
    for name, kind in schema.TABLES.items():
        head = [line.removeprefix("#").strip() for line in table.header(name).splitlines()]
        fields = msgspec.structs.fields(kind)
        needed = ", ".join(f"`{f.name}`" for f in fields if f.required)
        others = ", ".join(f"`{f.name}`" for f in fields if not f.required)
        text = "\n".join(head).replace("<", "\\<")
        parts += [f"## {name}.toml\n", f"{text}\n", f"Required: {needed}. Optional: {others}.\n"]
        parts.append(_upkeep(kept[name]))
    return _page(parts)


def _upkeep(row: schema.Upkeep) -> str:
    proven = row.by == "index"
    first = "`tfenv facts update` proves" if proven else "Not provable from a package index"
    rest = "For the rest look at" if proven else "Look at"
    return _escape_text(f"{first}: {row.why}. {rest} {row.look_at}.") + "\n"


def _escape_text(text: str) -> str:
    return text.replace("<", "\\<").replace("*", "\\*").replace("_", "\\_")


def _releases() -> str:
    bounds = {r.version: r for r in facts.rows(schema.BazelBound)}
    wheels: dict[str, list[schema.Wheel]] = {}
    for wheel in facts.rows(schema.Wheel):
        if not wheel.stub:
            wheels.setdefault(wheel.version, []).append(wheel)
    linux, windows = [], []
    for row in facts.rows(schema.Tested):
        cells = [
            row.version,
            row.variant,
            f"{row.pythons[0]} to {row.pythons[-1]}",
            f"{row.compiler} {row.compiler_version}".strip(),
            f"{row.build_tool} {row.build_tool_version}",
            row.cuda,
            row.cudnn,
        ]
        if row.platform == "linux-x86_64":
            linux.append(cells)
        elif row.platform == "windows-x86_64":
            windows.append(cells)
    heads = ["TensorFlow", "variant", "Python", "compiler", "build tool", "CUDA", "cuDNN"]
    released = [
        [
            version,
            _range(bounds[version]),
            *(_pythons(wheels.get(version, []), platform) for platform in _PLATFORMS),
        ]
        for version in sorted(bounds, key=Version)
    ]
    return _page(
        [
            "# Releases\n",
            "## Wheels and Bazel\n",
            (
                "Newest and oldest Python of the released wheels, all distributions of TensorFlow "
                "taken together, stubs left out; and the Bazel that the release's tree accepts.\n"
            ),
            _grid(["TensorFlow", "Bazel", *_PLATFORMS.values()], released),
            "## Tested on Linux x86_64\n",
            (
                "What TensorFlow's documents call tested, corrected where the tree or the wheels say "
                "otherwise (`tfenv why` tells). A row holds for the later patches of its minor.\n"
            ),
            _grid(heads, linux),
            "## Tested on Windows\n",
            _grid(heads, windows),
        ]
    )


def _range(bound: schema.BazelBound) -> str:
    if bound.min and bound.max:
        return bound.min if bound.min == bound.max else f"{bound.min} to {bound.max}"
    return f"from {bound.min}" if bound.min else bound.file


def _pythons(wheels: Iterable[schema.Wheel], platform: str) -> str:
    pythons = {p for wheel in wheels if wheel.platform == platform for p in wheel.pythons}
    if not pythons:
        return ""
    ordered = sorted(pythons, key=Version)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _cuda() -> str:
    rows = [
        [row.cuda, ", ".join(row.sm), row.gcc_max, row.clang, row.msc_ver, row.driver_linux_min]
        for row in facts.rows(schema.CudaArch)
    ]
    studios = [
        [row.name, f"{row.oldest} to {row.newest}" if row.oldest != row.newest else str(row.oldest)]
        for row in facts.rows(schema.Msvc)
    ]
    return _page(
        [
            "# CUDA\n",
            (
                "Compute capabilities that each CUDA compiles for, the newest GCC it accepts, ranges "
                "of Clang and of `_MSC_VER`, and the oldest Linux driver with minor-version "
                "compatibility. Empty: not known, or (driver, before 11) the release's own. A "
                "compiler outside is refused, unless TensorFlow itself tested it with that CUDA; "
                "where a range is empty nothing is refused.\n"
            ),
            _grid(["CUDA", "capabilities", "GCC up to", "Clang", "_MSC_VER", "driver from"], rows),
            "## Visual Studio\n",
            _grid(["Visual Studio", "_MSC_VER"], studios),
        ]
    )


def _gpus() -> str:
    rows = [[r.name, r.capability, ", ".join(r.aliases)] for r in facts.rows(schema.Gpu)]
    return _page(
        [
            "# Cards\n",
            (
                "Names that `--gpu` knows, as a driver or a shop writes them: upper or lower case, "
                "with or without blanks, `NVIDIA`, memory and form (`A100-SXM4-80GB`, `RTX 3080 "
                "Laptop GPU`). A compute capability such as `8.6` or `sm_86` is taken as well.\n"
            ),
            _grid(["card", "compute capability", "also written"], rows),
        ]
    )


def _pins() -> str:
    rows = [
        [
            r.versions,
            r.pythons,
            f"{'add ' if r.extra_requirement else ''}{r.package}{r.constraint}",
            r.symptom,
            "yes" if r.tested else "inferred",
        ]
        for r in facts.rows(schema.Pin)
    ]
    return _page(
        [
            "# Effective pins\n",
            "Bounds that a release needs today and its own metadata lacks.\n",
            _grid(["TensorFlow", "Python", "bound", "without it", "tested"], rows),
        ]
    )


def _mirrors() -> str:
    rows = [
        [r.kind, ", ".join([r.name, *r.aliases]), r.status, ", ".join(r.serves), r.url]
        for r in facts.rows(schema.Mirror)
    ]
    return _page(
        [
            "# Mirrors\n",
            (
                "Names that `--mirror` knows. What a mirror does not serve is fetched from its "
                "original place.\n"
            ),
            _grid(["kind", "name", "status", "only", "address"], rows),
        ]
    )


def _page(parts: Iterable[str]) -> str:
    return "\n".join([_MADE, *parts])


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_line(heads), _line(["---"] * len(heads))]
    lines += [_line([_escape(cell) for cell in row]) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escape(text: str) -> str:
    """Text as Markdown shows it, also inside a table."""
    for character in "\\|<>*_":
        text = text.replace(character, f"\\{character}")
    return text


def main(folder: Path) -> None:
    """Write all pages."""
    for name, text in pages().items():
        files.write_text(folder / name, text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
