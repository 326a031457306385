"""The release policy: what a wheel must be before it may be published. One TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import tomli

from tfenv.errors import FileFormatError

FORMAT = 1


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A table of the policy: a misspelt key is an error, not a rule that never holds."""


class WheelRules(_Table, frozen=True):
    """`[wheel]`: what `tfenv inspect` must say.

    Attributes:
        tags: platform tags that are allowed; empty: any.
        max_isa: newest instruction set that may be needed, e.g. AVX; an unknown floor fails.
        require_sass, require_ptx: architectures that must be there, e.g. sm_70, compute_80.
        forbid_sass: architectures that must not be there.
        forbid_libraries: patterns of libraries that must not be needed, e.g. libcudart.so.*.
        allow_findings: codes of findings that are accepted, e.g. rpath.
    """

    max_size_mib: float | None = None
    tags: list[str] = []
    max_glibc: str = ""
    max_glibcxx: str = ""
    max_isa: str = ""
    cxx11_abi: bool | None = None
    require_sass: list[str] = []
    require_ptx: list[str] = []
    forbid_sass: list[str] = []
    forbid_libraries: list[str] = []
    allow_findings: list[str] = []


class AttestationRules(_Table, frozen=True):
    """`[attestation]`: SBOM and provenance beside the wheel, signed by one of `keys`.

    Attributes:
        keys: PEM files of public keys, relative to the policy.
        identity, issuer: who must have signed where Sigstore did, and who vouches for it.
        trust_config: of a Sigstore instance of one's own, relative to the policy.
    """

    required: bool = True
    keys: list[str] = []
    identity: str = ""
    issuer: str = ""
    trust_config: str = ""


class VerifyRules(_Table, frozen=True):
    """`[verify]`: the report of `tfenv verify` on this wheel.

    `allow_skips` and `allow_known` are patterns of check ids that need not have passed.
    """

    required: bool = True
    allow_skips: tuple[str, ...] = ()
    allow_known: tuple[str, ...] = ("*",)


class PublishedRules(_Table, frozen=True):
    """`[published]`: the wheel must be this very file.

    Attributes:
        sha256: of the file.
        lock: a target whose shipped Python lock holds the file of the same name.
        index: the package index must list the file with this hash; `default` is TFENV_INDEX or
            uv's own. Where it has attestations (PEP 740), they must hold.
        publisher: the repository's address that attestations must name; then they must be there.
        trust_config: of a Sigstore instance of one's own, relative to the policy.
    """

    sha256: str = ""
    lock: str = ""
    index: str = ""
    publisher: str = ""
    trust_config: str = ""


class Policy(_Table, frozen=True):
    """The whole file."""

    format: Literal[1]
    wheel: WheelRules = WheelRules()
    attestation: AttestationRules | None = None
    verify: VerifyRules | None = None
    published: PublishedRules | None = None


def load(path: Path) -> Policy:
    """Read a policy.

    Raises:
        FileFormatError: it is missing, no TOML, or has a key or value that is not known.
    """
    try:
        return msgspec.convert(tomli.loads(path.read_text("utf-8")), Policy)
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError, msgspec.ValidationError) as error:
        raise FileFormatError(
            f"the policy {path.name} cannot be read",
            str(error),
            "docs/reference/release-policy.md lists every key",
        ) from error
