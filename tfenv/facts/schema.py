"""The shape of each facts table: one struct per table, one TOML file per struct.

Every row names its `source`. An empty string or an empty list means "not known"; a row that
took one of several disagreeing values says which and why in `note`.

Words used in several tables:
    platform: linux-x86_64, linux-aarch64, macos-x86_64, macos-arm64, windows-x86_64
    variant:  cpu, cuda
    sha256:   64 lower-case hexadecimal digits
"""

from __future__ import annotations

from typing import Literal

import msgspec

Platform = Literal["linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-arm64", "windows-x86_64"]
Variant = Literal["cpu", "cuda"]


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every row has."""

    source: str
    note: str = ""


class Wheel(Row, frozen=True):
    """`wheels.toml`: the released wheels of one distribution, version and platform."""

    distribution: str  # name on the package index, e.g. tensorflow-gpu
    version: str
    platform: Platform
    variant: Variant  # what the build is, whatever the name says
    pythons: list[str]  # "3.7", oldest first; only CPython wheels that hold TensorFlow itself
    date: str  # upload date of the first file, YYYY-MM-DD
    tag: str = ""  # platform tag of the wheels, e.g. manylinux2010_x86_64
    size: int = 0  # bytes of the newest Python's wheel
    stub: bool = False  # a small wheel that only depends on another distribution
    real: str = ""  # of a stub: the distribution that holds TensorFlow
    requires_python: str = ""


class Source(Row, frozen=True):
    """`sources.toml`: the source archive of one release tag."""

    version: str
    tag: str
    url: str
    sha256: str
    commit: str = ""
    second_url: str = ""  # archive by commit: another file, the same tree
    second_sha256: str = ""


class Tested(Row, frozen=True):
    """`tested.toml`: a configuration that TensorFlow's own documents call tested.

    A row holds for its version and for the later patches of the same minor.
    """

    version: str
    platform: Platform
    variant: Variant
    pythons: list[str]
    compiler: str  # gcc, clang, msvc, xcode
    compiler_version: str
    build_tool: Literal["bazel", "cmake"]
    build_tool_version: str
    cuda: str = ""
    cudnn: str = ""


class BazelBound(Row, frozen=True):
    """`bazel-bounds.toml`: which Bazel a release accepts."""

    version: str
    min: str = ""
    max: str = ""
    file: str = ""  # content of .bazelversion
    kind: str = ""  # where the bound stands: configure.py, .bazelversion, ...
    confidence: str = ""
    commit: str = ""


class BazelFile(Row, frozen=True):
    """`bazel.toml`: one published file of one Bazel release."""

    version: str
    platform: str  # linux-x86_64, linux-arm64, darwin-x86_64, darwin-arm64, windows-x86_64
    kind: Literal["installer", "binary", "dist-zip", "windows-zip"]
    url: str
    sha256: str
    size: int = 0  # bytes; 0: not known
    sources: int = 1  # independent places that state this hash


class BazeliskFile(Row, frozen=True):
    """`bazelisk.toml`: one published file of one Bazelisk release."""

    version: str
    platform: str  # linux-amd64, linux-arm64, darwin-amd64, darwin-arm64, windows-amd64
    url: str
    sha256: str
    sources: int = 1


class CudaToolkit(Row, frozen=True):
    """`cuda.toml`: one local installer of one CUDA toolkit."""

    version: str  # 11.3.1
    platform: Platform
    url: str
    sha256: str = ""
    md5: str = ""
    sources: int = 1


class CudnnArchive(Row, frozen=True):
    """`cudnn.toml`: one cuDNN archive, for one CUDA version."""

    version: str  # 8.2.1.32
    cuda: str  # 11.3, or a major such as 12
    platform: Platform
    url: str = ""  # empty: only behind a login
    sha256: str = ""
    sources: int = 1


class CudaArch(Row, frozen=True):
    """`cuda-arch.toml`: what one CUDA minor compiles for, and with which host compilers."""

    cuda: str  # 11.3
    sm: list[str]  # "8.6", oldest first
    gcc_max: str = ""
    gcc_min: str = ""
    clang: str = ""  # accepted range, e.g. >3.2,<15
    msc_ver: str = ""
    driver_linux: list[str] = []  # "11.3.1:465.19.01"
    driver_linux_min: str = ""  # with minor-version compatibility
    driver_windows: list[str] = []


class Msvc(Row, frozen=True):
    """`msvc.toml`: which `_MSC_VER` the compilers of one Visual Studio have."""

    name: str  # 2019
    oldest: int  # 1920
    newest: int  # 1929


class Gpu(Row, frozen=True):
    """`gpus.toml`: a card's name and its compute capability."""

    name: str  # RTX 3090
    capability: str  # 8.6
    aliases: list[str] = []


class Redist(Row, frozen=True):
    """`cuda-redist.toml`: manifests that hermetic CUDA builds read."""

    product: str
    version: str
    host: str
    url: str
    sha256: str
    sources: int = 1


class NvidiaArchive(Row, frozen=True):
    """`nccl-tensorrt.toml`: NCCL and TensorRT archives."""

    product: str
    version: str
    file: str  # URL, or a bare file name where the place is not known
    kind: str = ""
    sha256: str = ""
    sources: int = 1


class Image(Row, frozen=True):
    """`images.toml`: one container image tag by digest."""

    image: str
    tag: str
    digest: str = ""
    digest_kind: str = ""
    os: str = ""  # Ubuntu 18.04
    glibc: str = ""
    gcc: str = ""
    python: str = ""
    status: str = ""
    gone: bool = False
    preferred: bool = False  # the digest that tfenv takes for this tag


class NixpkgsPin(Row, frozen=True):
    """`nixpkgs.toml`: one locked nixpkgs revision."""

    release: str  # 21.11
    rev: str
    nar_hash: str  # sha256-...
    last_modified: int = 0  # seconds since the epoch
    preferred: bool = False
    sources: int = 1


class NixAttribute(Row, frozen=True):
    """`nix-attributes.toml`: which nixpkgs attribute gives which version."""

    release: str
    component: str
    attribute: str
    version: str
    status: str  # evaluated, read, inferred, unconfirmed, absent


class NixChoice(Row, frozen=True):
    """`nix-choices.toml`: what one nixpkgs release offers a target, from `nix-attributes.toml`.

    Only what was evaluated or read stands here; a flake names every attribute that it tries.
    """

    release: str
    component: Literal["python", "gcc", "clang", "cuda", "cudnn"]
    wanted: str  # python minor, compiler major, CUDA minor; for cudnn the CUDA minor
    attributes: list[str]  # tried in this order
    version: str  # what the attribute gives


class CondaPackage(Row, frozen=True):
    """`conda.toml`: one conda build."""

    channel: str
    subdir: str
    name: str
    version: str
    build: str
    url: str = ""
    md5: str = ""
    sha256: str = ""


class CPython(Row, frozen=True):
    """`cpython.toml`: python.org's source archive."""

    version: str
    url: str
    sha256: str


class Installer(Row, frozen=True):
    """`pip.toml`: the pip that an image upgrades to before it installs a lock.

    The pip that comes with old Pythons does not know the wheel tags of the packages.
    """

    pythons: str  # PEP 440 specifier on the Python
    version: str
    file: str
    size: int
    sha256: str


class Pin(Row, frozen=True):
    """`pins.toml`: an effective pin, which the release's own metadata lacks."""

    versions: str  # PEP 440 specifier on the TensorFlow version, e.g. ==1.15.5
    package: str
    constraint: str  # <3.21
    symptom: str
    tested: bool = False
    pythons: str = ""  # PEP 440 specifier on the Python, e.g. >=3.7; empty: all
    extra_requirement: bool = False  # the package must be added, not only bounded


class SdistNeed(Row, frozen=True):
    """`sdists.toml`: what it takes to install a package from its source distribution."""

    package: str
    needs: str = ""  # "a C compiler"; empty: nothing but the build tools of the lock
    optional: bool = False  # installs without, and is slower then


class Requires(Row, frozen=True):
    """`requires.toml`: what a release's own metadata asks of packages whose drift breaks it."""

    version: str
    requires: list[str]  # PEP 508: "numpy~=1.19.2", with a marker where it has one


class BuildInfo(Row, frozen=True):
    """`build-info.toml`: what a released wheel says about itself."""

    distribution: str
    version: str
    platform: Platform
    cuda_build: bool
    rocm_build: bool = False
    tensorrt_build: bool | None = None
    cuda: str = ""
    cudnn: str = ""
    capabilities: list[str] = []  # sm_35 ... compute_80
    compiler: str = ""
    file: str = ""
    git_version: str = ""
    cxx11_abi: bool | None = None  # _GLIBCXX_USE_CXX11_ABI; None: not imported to see


class BuildConflict(Row, frozen=True):
    """`build-conflicts.toml`: a tool that a range of releases is known not to build with."""

    versions: str  # PEP 440 specifier
    subject: str  # gcc, ...
    range: str  # PEP 440 specifier on the subject
    reason: str


class Mirror(Row, frozen=True):
    """`mirrors.toml`: who serves what."""

    name: str  # tsinghua, ustc, aliyun, bfsu, sjtu, huawei
    kind: str  # pip, apt-ubuntu, apt-debian, conda, bazel, nix, ...
    url: str  # empty only where `status` is not serving
    serves: list[str] = []  # e.g. conda channels; empty: everything of the kind
    status: Literal["serving", "closed", "not-mirrored", "uncertain"] = "serving"
    aliases: list[str] = []  # other names, e.g. tuna


class ProductFact(Row, frozen=True):
    """`products.toml`: what else than the pip wheel a range of releases can build."""

    product: Literal["cc", "c", "lite"]
    versions: str  # PEP 440 specifier
    platforms: list[Platform]
    variants: list[Variant]
    bazel_target: str
    output: str = ""  # path below the source tree


class BaseOs(Row, frozen=True):
    """`os.toml`: a base system that images are made from."""

    name: str  # ubuntu:18.04, as image and tag
    codename: str
    glibc: str
    gcc: str  # default compiler, e.g. 7.5
    python: str  # the distribution's own python3, e.g. 3.6
    gccs: list[str] = []  # majors that its package archive has (gcc-7)
    clangs: list[str] = []  # majors that its package archive has (clang-14)
    pythons: list[str] = []  # minors that its package archive has (python3.8)
    archive: str = ""  # empty: the usual mirrors still serve it; else where it moved


class CudaPair(Row, frozen=True):
    """`cuda-pairs.toml`: a CUDA and cuDNN that a release was built with by somebody."""

    versions: str  # PEP 440 specifier
    cuda: str  # 11.3
    cudnn: str  # 8.2.1 (a prefix of the archive's version)
    reason: str
    default: bool = False  # taken instead of the pair that TensorFlow tested
    platforms: list[Platform] = []  # empty: all


class Preference(Row, frozen=True):
    """`preferences.toml`: a value taken by default although the general rule gives another."""

    versions: str  # PEP 440 specifier
    key: Literal["python", "base"]
    value: str
    reason: str


class Feature(Row, frozen=True):
    """`features.toml`: what a range of releases has, for the verification suite."""

    versions: str  # PEP 440 specifier
    name: str
    value: str


class Defect(Row, frozen=True):
    """`defects.toml`: a known upstream defect."""

    versions: str
    id: str
    title: str
    reference: str = ""
    platforms: list[str] = []


class Manylinux(Row, frozen=True):
    """`manylinux.toml`: the newest symbol versions that one platform tag allows."""

    glibc: str  # 2.17: the tag is manylinux_2_17
    machine: str  # x86_64, aarch64
    glibcxx: str  # 3.4.19
    cxxabi: str  # 1.3.7
    alias: str = ""  # the older name of the same tag, manylinux2014


class SourceEdit(Row, frozen=True):
    """`source-edits.toml`: a change that a release's source needs with a toolchain it did not know.

    `find` must stand in the file exactly `count` times; `replace` takes its place. An empty
    `replace` only checks that the text is there. {cuda}, {cuda_digits}, {cudnn} stand for 9.0,
    90 and 7.
    """

    versions: str  # PEP 440 specifier on the TensorFlow version
    platform: Platform
    cuda_range: str  # PEP 440 specifier on the CUDA minor; empty: CPU too
    file: str  # below the source tree
    find: str
    reason: str
    replace: str = ""
    count: int = 1


class CmakeExternal(Row, frozen=True):
    """`cmake-externals.toml`: what a CMake build on Windows downloads.

    An archive by sha256, or a git repository at a commit.
    """

    versions: str
    name: str
    urls: list[str]  # the first is the one that TensorFlow's CMake files name
    file: str = ""  # its name in CMake's download folder
    sha256: str = ""
    revision: str = ""  # of a git repository, as TensorFlow's file has it: may be abbreviated


class Proof(Row, frozen=True):
    """`proven.toml`: how far a target was proven, when, and where the evidence is.

    imported: installed from its lock and imported. checked: some areas of the verification suite
    passed. verified: all of them did, in full.
    """

    target: str
    level: Literal["rendered", "evaluated", "built", "imported", "checked", "verified"]
    date: str
    python: str
    evidence: str


class Upkeep(Row, frozen=True):
    """`upkeep.toml`: how a table is kept up, one row for every table."""

    table: str
    by: Literal["index", "hand"]  # index: `tfenv facts update` writes rows of it
    why: str  # index: what is proven, and from what; hand: why a package index proves nothing
    look_at: str  # what a person reads for the rest


TABLES: dict[str, type[Row]] = {
    "wheels": Wheel,
    "sources": Source,
    "tested": Tested,
    "bazel-bounds": BazelBound,
    "bazel": BazelFile,
    "bazelisk": BazeliskFile,
    "cuda": CudaToolkit,
    "cudnn": CudnnArchive,
    "cuda-arch": CudaArch,
    "msvc": Msvc,
    "gpus": Gpu,
    "cuda-redist": Redist,
    "nccl-tensorrt": NvidiaArchive,
    "images": Image,
    "nixpkgs": NixpkgsPin,
    "nix-attributes": NixAttribute,
    "nix-choices": NixChoice,
    "conda": CondaPackage,
    "cpython": CPython,
    "pip": Installer,
    "pins": Pin,
    "requires": Requires,
    "sdists": SdistNeed,
    "build-info": BuildInfo,
    "build-conflicts": BuildConflict,
    "mirrors": Mirror,
    "products": ProductFact,
    "os": BaseOs,
    "cuda-pairs": CudaPair,
    "preferences": Preference,
    "features": Feature,
    "defects": Defect,
    "manylinux": Manylinux,
    "source-edits": SourceEdit,
    "cmake-externals": CmakeExternal,
    "proven": Proof,
    "upkeep": Upkeep,
}
