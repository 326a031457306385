"""Which CUDA, which cuDNN, for which cards, under which driver."""

from __future__ import annotations

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.target import Target, version_key, within
from tfenv.toolchain import cards, gpu, hostcc, lookup
from tfenv.toolchain.model import Choices, Chosen, Rejected, matches
from tfenv.toolchain.pairs import Pair, pairs

__all__ = ["Pair", "archive", "archives", "cuda", "hermetic", "pairs", "toolkits"]


def cuda(target: Target, choices: Choices, compiler: str) -> dict[str, Chosen]:
    """CUDA, cuDNN, compute capabilities and the driver that they need."""
    wanted = gpu.capability(choices.gpu) if choices.gpu else None
    if choices.cuda and wanted:
        cards.refuse(target, choices.cuda, wanted)
    pair, rule = _pair(target, choices)
    toolkit = _toolkit(target, choices.cuda or pair.cuda)
    if wanted:
        cards.refuse(target, toolkit.version, wanted)
    host = hostcc.host_compiler(target, toolkit.version, compiler)
    refused = _other_pairs(target, toolkit.version)
    reason = pair.reason if rule != "user" else f"--cuda {choices.cuda}; {pair.reason}"
    return {
        "cuda": Chosen(toolkit.version, rule, reason, pair.source, refused),
        "cudnn": _cudnn(target, choices, pair, toolkit.version),
        "cuda-via": _via(target),
        "host-compiler": host,
        "capabilities": _capabilities(target, toolkit.version, wanted),
        "driver": _driver(target, toolkit.version),
    }


def _pair(target: Target, choices: Choices) -> tuple[Pair, str]:
    known = pairs(target)
    if not known:
        raise ConflictError(
            f"no CUDA is known for {target.name}",
            "TensorFlow's documents name no tested configuration for it",
            "see `tfenv list --variant cuda`",
        )
    if not choices.cuda:
        default = known[0]
        return default, "tested" if default.reason.startswith("TensorFlow tested") else "preferred"
    for pair in known:
        if matches(choices.cuda, pair.cuda) or matches(pair.cuda, choices.cuda):
            return pair, "user"
    return _same_major(target, choices.cuda, known), "user"


def _same_major(target: Target, wanted: str, known: tuple[Pair, ...]) -> Pair:
    major = wanted.split(".", 1)[0]
    near = [p for p in known if p.cuda.split(".", 1)[0] == major]
    arch = gpu.arch(wanted)
    if arch is None or not near or version_key(wanted) < version_key(near[-1].cuda):
        names = " or ".join(f"--cuda {p.cuda}" for p in known)
        raise ConflictError(
            f"no source reports TensorFlow {target.version} built with CUDA {wanted}",
            "; ".join(f"{p.reason} ({p.source})" for p in known),
            names,
        )
    reason = f"of the same major as CUDA {near[0].cuda}, which is known to work; not tested itself"
    return Pair(wanted, near[0].cudnn.split(".")[0], reason, near[0].source)


def toolkits(target: Target) -> list[schema.CudaToolkit]:
    """Toolkit installers for the target's platform that are pinned by sha256."""
    return [r for r in facts.rows(schema.CudaToolkit) if r.platform == target.platform and r.sha256]


def _toolkit(target: Target, wanted: str) -> schema.CudaToolkit:
    everything = [r for r in facts.rows(schema.CudaToolkit) if r.platform == target.platform]
    for rows in (toolkits(target), everything):
        fit = [r for r in rows if matches(r.version, wanted)]
        if fit:
            return max(fit, key=lambda r: (version_key(r.version), r.sources))
    raise ConflictError(
        f"no installer of CUDA {wanted} is known for {target.platform}",
        "its address and hash stand in no source that the facts were read from",
        " or ".join(f"--cuda {p.cuda}" for p in pairs(target)),
    )


def _other_pairs(target: Target, taken: str) -> tuple[Rejected, ...]:
    return tuple(
        Rejected(p.cuda, f"known to work, and not the default: {p.reason}", p.source)
        for p in pairs(target)
        if not matches(taken, p.cuda)
    )


def archives(target: Target, cuda_version: str) -> list[schema.CudnnArchive]:
    """cuDNN archives made for a CUDA: for its minor, else for its major."""
    rows = [r for r in facts.rows(schema.CudnnArchive) if r.platform == target.platform]
    minor, major = ".".join(cuda_version.split(".")[:2]), cuda_version.split(".", maxsplit=1)[0]
    for name in (minor, major, f"{major}.x"):
        if fit := [r for r in rows if r.cuda == name]:
            return fit
    same = [r for r in rows if r.cuda.split(".")[0] == major]
    below = [r for r in same if version_key(r.cuda) <= version_key(minor)]
    best = max(below, key=lambda r: version_key(r.cuda), default=None)
    return [r for r in below if best is not None and r.cuda == best.cuda]


def _cudnn(target: Target, choices: Choices, pair: Pair, cuda_version: str) -> Chosen:
    rows = archives(target, cuda_version)
    wanted = choices.cudnn or pair.cudnn
    fit = [r for r in rows if matches(r.version, wanted)]
    pinned = [r for r in fit if r.url and r.sha256] or [r for r in fit if r.sha256] or fit
    if pinned:
        row = max(pinned, key=lambda r: version_key(r.version))
        reason = f"the newest {wanted} archive for CUDA {row.cuda}; {pair.reason}"
        rule = "user" if choices.cudnn else "pair"
        source = f"{pair.source}; {row.source}"
        others = tuple(
            Rejected(r.version, f"an archive for CUDA {r.cuda}, and not the pair's", r.source)
            for r in rows
            if r.version != row.version
        )
        return Chosen(row.version, rule, reason, source, others)
    if choices.cudnn and not matches(pair.cudnn, choices.cudnn):
        names = ", ".join(sorted({r.version for r in rows}, key=version_key)) or "none"
        raise ConflictError(
            f"no cuDNN {choices.cudnn} archive for CUDA {cuda_version} is known",
            f"archives for it: {names}",
            f"--cudnn {pair.cudnn}",
        )
    reason = f"{pair.reason}; no archive of it for {target.platform} has a known address and hash"
    return Chosen(pair.cudnn, "user" if choices.cudnn else "pair", reason, pair.source)


def archive(target: Target, cuda_version: str, cudnn_version: str) -> schema.CudnnArchive | None:
    """The archive of a chosen cuDNN."""
    rows = archives(target, cuda_version)
    return next((r for r in rows if r.version == cudnn_version), None)


def _capabilities(target: Target, cuda_version: str, wanted: tuple[str, str] | None) -> Chosen:
    row = gpu.arch(cuda_version)
    source = row.source if row else "tfenv/facts/cuda-arch.toml"
    if wanted:
        return Chosen(wanted[0], "user", f"compute capability {wanted[0]}: {wanted[1]}", source)
    info = lookup.build_info(target)
    if info is not None and info.capabilities:
        able = [c for c in info.capabilities if row is None or gpu.dotted(c) in row.sm]
        reason = f"what the released wheel of {info.distribution} {info.version} was built for"
        return Chosen(",".join(able), "as-released", reason, info.source)
    sm = [c for c in (row.sm if row else []) if version_key(c) >= version_key("3.5")]
    reason = f"the wheel does not say what it was built for: all that CUDA {cuda_version} knows"
    return Chosen(",".join(gpu.sm_name(c) for c in sm), "all-of-cuda", reason, source)


def hermetic(target: Target) -> bool:
    """Whether Bazel itself downloads CUDA and cuDNN for a release."""
    return within(target.version, ">=2.18") and target.linux


def _via(target: Target) -> Chosen:
    source = "RELEASE.md of 2.18.0; bazel-bounds.toml"
    if hermetic(target):
        reason = "from 2.18 on Bazel downloads CUDA and cuDNN, by the hashes of NVIDIA's manifests"
        refused = Rejected("toolkit", "the build takes no installed CUDA", source)
        return Chosen("hermetic", "hermetic-cuda", reason, source, (refused,))
    reason = "before 2.18 the build takes an installed CUDA toolkit"
    refused = Rejected("hermetic", "Bazel downloads CUDA itself only from 2.18 on", source)
    return Chosen("toolkit", "hermetic-cuda", reason, source, (refused,))


def _driver(target: Target, cuda_version: str) -> Chosen:
    row = gpu.arch(cuda_version)
    if row is None:
        return Chosen("unknown", "driver", "no driver table row for this CUDA", "cuda-arch.toml")
    own = row.driver_windows if target.platform.startswith("windows") else row.driver_linux
    exact = dict(item.split(":", 1) for item in own)
    if target.linux and row.driver_linux_min:
        reason = f"minor-version compatibility of CUDA {row.cuda}'s family"
        return Chosen(f">={row.driver_linux_min}", "driver", reason, row.source)
    for version in (cuda_version, *exact):
        if version in exact:
            reason = f"the driver of CUDA {version}"
            return Chosen(f">={exact[version]}", "driver", reason, row.source)
    return Chosen("unknown", "driver", "no driver is known for this CUDA", row.source)
