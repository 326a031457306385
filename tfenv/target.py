"""Target names, and the catalogue of targets.

A target is `<version>-<variant>[-<platform>][-<product>]`, for example `2.6.5-cuda`,
`1.4.0-cuda-windows` or `1.15.5-cpu-macos-cc`. A version of two parts means its newest patch.
"""

from __future__ import annotations

import functools
import re
from typing import Literal, get_args

import msgspec

from tfenv import facts
from tfenv.errors import UnknownTargetError
from tfenv.facts import schema
from tfenv.facts.versions import Version, within
from tfenv.facts.versions import version as version_key

__all__ = [
    "PLATFORM_OF_WORD",
    "WORD_OF_PLATFORM",
    "Product",
    "Target",
    "Version",
    "catalogue",
    "exists",
    "nearest",
    "parse",
    "product_fits",
    "releases",
    "version_key",
    "within",
]

Product = Literal["wheel", "cc", "c", "lite"]

PLATFORM_OF_WORD: dict[str, schema.Platform] = {
    "": "linux-x86_64",
    "arm64": "linux-aarch64",
    "macos": "macos-x86_64",
    "macos-arm64": "macos-arm64",
    "windows": "windows-x86_64",
}
WORD_OF_PLATFORM: dict[schema.Platform, str] = {p: w for w, p in PLATFORM_OF_WORD.items()}

_VARIANTS: tuple[schema.Variant, ...] = get_args(schema.Variant)
_PRODUCTS: tuple[Product, ...] = get_args(Product)

_NAME = re.compile(
    r"(?P<version>\d+\.\d+(\.\d+(\.post\d+)?)?)"
    r"-(?P<variant>cpu|cuda)"
    r"(-(?P<platform>macos-arm64|arm64|macos|windows))?"
    r"(-(?P<product>cc|c|lite))?"
)


class Target(msgspec.Struct, frozen=True, order=False):
    """What somebody wants."""

    version: str
    variant: schema.Variant
    platform: schema.Platform = "linux-x86_64"
    product: Product = "wheel"

    @property
    def name(self) -> str:
        """The canonical name."""
        words = [self.version, self.variant, WORD_OF_PLATFORM[self.platform]]
        words.append("" if self.product == "wheel" else self.product)
        return "-".join(word for word in words if word)

    @property
    def cuda(self) -> bool:
        """Whether the target uses CUDA."""
        return self.variant == "cuda"

    @property
    def linux(self) -> bool:
        """Whether the target runs on Linux."""
        return self.platform.startswith("linux")

    @property
    def nix_attribute(self) -> str:
        """The name in a flake, where dots are not allowed: `tf-2_6_5-cuda`."""
        return f"tf-{self.name.replace('.', '_')}"


@functools.cache
def catalogue() -> dict[str, Target]:
    """Every target that somebody could want, by name: a released wheel or a documented build."""
    found = [
        Target(version, variant, platform, product)
        for version in releases()
        for variant in _VARIANTS
        for platform in WORD_OF_PLATFORM
        if _has_wheel_target(version, variant, platform)
        for product in _PRODUCTS
        if product == "wheel" or _product_rows(Target(version, variant, platform, product))
    ]
    return {target.name: target for target in found}


def exists(target: Target) -> bool:
    """Whether a target is in the catalogue, without making the whole of it."""
    if not _has_wheel_target(target.version, target.variant, target.platform):
        return False
    return target.product == "wheel" or bool(_product_rows(target))


def _has_wheel_target(version: str, variant: schema.Variant, platform: schema.Platform) -> bool:
    """A wheel was released; or the platform is Linux x86_64, where all releases can be built."""
    rows = facts.grouped(schema.Wheel, "version", "platform").get((version, platform), ())
    if any(row.variant == variant and not row.stub for row in rows):
        return True
    if platform != "linux-x86_64" or version not in releases() or ".post" in version:
        return False
    return variant == "cpu" or _minor(version) in _tested_minors(platform, variant)


def _product_rows(target: Target) -> list[schema.ProductFact]:
    rows = facts.grouped(schema.ProductFact, "product").get((target.product,), ())
    return [row for row in rows if product_fits(row, target)]


def product_fits(product: schema.ProductFact, target: Target) -> bool:
    """Whether a release can build this product for the target's platform and variant.

    A post release is another upload of the same tree, which its own release builds.
    """
    return (
        ".post" not in target.version
        and target.platform in product.platforms
        and target.variant in product.variants
        and within(target.version, product.versions)
    )


@functools.cache
def _tested_minors(
    platform: schema.Platform, variant: schema.Variant
) -> frozenset[tuple[str, ...]]:
    rows = facts.grouped(schema.Tested, "platform", "variant").get((platform, variant), ())
    return frozenset(_minor(row.version) for row in rows)


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


@functools.cache
def releases() -> tuple[str, ...]:
    """All releases with a wheel, oldest first."""
    return tuple(sorted({w.version for w in facts.rows(schema.Wheel)}, key=version_key))


def parse(text: str) -> Target:
    """The target of a name.

    Raises:
        UnknownTargetError: the name does not parse, or names nothing known; the message holds
            the nearest names.
    """
    match = _NAME.fullmatch(text.strip().lower())
    if match is None:
        raise UnknownTargetError(
            f"'{text[:80]}' is not a target name",
            "a target is <version>-<cpu|cuda>[-<arm64|macos|macos-arm64|windows>][-<cc|c|lite>]",
            _suggestion(text),
        )
    target = Target(
        _newest_patch(match["version"]),
        "cuda" if match["variant"] == "cuda" else "cpu",
        PLATFORM_OF_WORD[match["platform"] or ""],
        _product(match["product"]),
    )
    if not exists(target):
        raise UnknownTargetError(
            f"there is no target {target.name}",
            _why_unknown(target),
            _suggestion(target.name),
        )
    return target


def _product(word: str | None) -> Product:
    for product in _PRODUCTS:
        if product == word:
            return product
    return "wheel"


def _newest_patch(version: str) -> str:
    if version.count(".") != 1:
        return version
    patches = [v for v in releases() if v.startswith(version + ".")]
    return patches[-1] if patches else version


def _why_unknown(target: Target) -> str:
    if target.version not in releases():
        return f"no final release {target.version} of TensorFlow is known"
    if target.variant == "cuda" and target.platform.startswith("macos"):
        return "no covered release of TensorFlow supports CUDA on macOS"
    if target.variant == "cuda" and target.platform == "windows-x86_64":
        return "2.10 is the last release with CUDA on Windows itself; newer ones need WSL2"
    return (
        f"TensorFlow {target.version} has no wheel and no documented build for that "
        f"variant, platform or product"
    )


# What people write for the words of a name; the empty ones say what is meant anyway.
_PEOPLES_WORDS = {
    "gpu": "cuda",
    "aarch64": "arm64",
    "darwin": "macos",
    "mac": "macos",
    "osx": "macos",
    "win": "windows",
    "win64": "windows",
    "tflite": "lite",
    "tensorflow": "",
    "tf": "",
    "linux": "",
    "amd64": "",
    "x86_64": "",
}


def _in_our_words(text: str) -> str:
    """A name as it would be in the terms of the catalogue: `TF-2.6.5-gpu` is `2.6.5-cuda`."""
    words = text.strip().lower().removeprefix("v").replace("==", "-").split("-")
    ours = [word for word in (_PEOPLES_WORDS.get(w, w) for w in words) if word]
    return "-".join(sorted(ours, key=lambda word: not word[0].isdigit()))  # the version first


def nearest(text: str, count: int = 3) -> list[str]:
    """The names most like `text`: same shape first, then the closest version."""
    names = list(catalogue())
    text = _in_our_words(text[:80])
    match = _NAME.fullmatch(text)
    if match is not None:
        tail = text[len(match["version"]) :]
        same = [n for n in names if n.endswith(tail) and _NAME.fullmatch(n)]
        same = [n for n in same if n[len(catalogue()[n].version) :] == tail]
        close = sorted(same, key=lambda n: distance(catalogue()[n].version, match["version"]))
        if close:
            return close[:count]
    import difflib

    return difflib.get_close_matches(text, names, n=count, cutoff=0.4)


def distance(one: str, other: str) -> tuple[int, ...]:
    """How far two versions lie apart: major, minor and patch, each as a difference."""
    a, b = version_key(one).release, version_key(other).release
    return tuple(abs(x - y) for x, y in zip((*a, 0, 0)[:3], (*b, 0, 0)[:3], strict=True))


def _suggestion(text: str) -> str:
    names = nearest(text)
    if not names:
        return "see `tfenv list`"
    return f"did you mean {', '.join(names)}? `tfenv list` shows all"
