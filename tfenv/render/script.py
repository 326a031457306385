"""Lock -> scripts for a machine without an engine: bash for macOS and Linux, PowerShell for Windows."""

from __future__ import annotations

import json
from typing import Any

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.render import engine, recipe
from tfenv.render.plan import OutFile, Plan
from tfenv.render.sources import bazel, download, pip_requirement
from tfenv.target import within

_SYSTEM = {"linux": "Linux", "macos": "Darwin"}
_MACHINE = {
    "linux-x86_64": "x86_64",
    "linux-aarch64": "aarch64",
    "macos-x86_64": "x86_64",
    "macos-arm64": "arm64",
}
# vswhere's range for a Visual Studio by its year.
_VISUAL_STUDIO = {"2017": "[15,16)", "2019": "[16,17)", "2022": "[17,18)"}


def files(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """The files of the format script; they build, so there are none for the purpose `run`.

    Raises:
        ConflictError: a download has no known hash.
    """
    if "build" not in purposes:
        return []
    found = [
        _file("requirements.build.txt", plan.build_environment()),
        _file("requirements.pip.txt", pip_requirement(plan.value("python"))),
    ]
    if plan.build_requirements:
        found.append(_file("requirements.tools.txt", plan.build_requirements))
    windows = plan.target.platform.startswith("windows")
    return [*found, *(_windows(plan) if windows else _unix(plan))]


def _file(name: str, text: str, *, executable: bool = False) -> OutFile:
    return OutFile(f"script/{name}", "script", "build", text, executable)


def _common(plan: Plan) -> dict[str, Any]:
    source = download(plan, "tensorflow")
    if source is None:
        raise ConflictError(
            f"no source archive of TensorFlow {plan.target.version} is known",
            "the lock holds none",
            "write the lock again with `tfenv lock`",
        )
    return {
        "target": plan.target.name,
        "version": plan.target.version,
        "python": plan.value("python"),
        "source": source,
        "pip_mirror": plan.mirrors.get("pip"),
        "tools": bool(plan.build_requirements),
        "march": plan.value("march"),
        "variables": recipe.variables(plan),
        "flags": recipe.flags(plan),
        "bazel_target": recipe.bazel_target(plan),
    }


# macOS and Linux -------------------------------------------------------------------------------


def _unix(plan: Plan) -> list[OutFile]:
    tool = bazel(plan)
    family, _, version = plan.value("compiler").partition(" ")
    library = _library(plan)
    context = _common(plan) | {
        "bazel": tool | {"name": _base(tool["file"]["urls"][0])},
        "system": _SYSTEM[plan.target.platform.partition("-")[0]],
        "machine": _MACHINE[plan.target.platform],
        "xcode": version if family == "Xcode" else "",
        "old": within(plan.target.version, "<2"),
        "cc": recipe.compiler(plan),
        "cxx17": within(plan.target.version, ">=2.8"),
        "library": library,
        "extra_targets": library["targets"] if library else [],
    }
    script = engine.render("script/build-host.sh.j2", context)
    found = [
        _file("build-host.sh", script, executable=True),
        _file("build.sh", recipe.script(plan), executable=True),
    ]
    if library:
        found.append(
            _file("tensorflow.cmake", engine.render("script/tensorflow.cmake.j2", context))
        )
    return found


def _base(url: str) -> str:
    return url.rsplit("/", 1)[-1]


def _library(plan: Plan) -> dict[str, Any] | None:
    """What a library target packs, by the names that tensorflow.bzl gives since 1.14."""
    mac = plan.target.platform.startswith("macos")
    suffix = "*.dylib" if mac else "*.so*"
    headers = "//tensorflow:install_headers"
    if plan.target.product == "cc":
        # libtensorflow_cc.so is a name of Linux; the group takes the system's own.
        targets = ["//tensorflow:tensorflow_cc"] if mac else []
        return {
            "targets": [*targets, headers],
            "files": [f"libtensorflow_cc{suffix}", f"libtensorflow_framework{suffix}"],
            "glob": f"libtensorflow_*{suffix.removesuffix('*')}",
            "headers": True,
        }
    if plan.target.product == "c":
        targets = ["//tensorflow:tensorflow"] if mac else []
        return {
            "targets": [*targets, headers],
            "files": [f"libtensorflow{suffix}", f"libtensorflow_framework{suffix}"],
            "glob": f"libtensorflow*{suffix.removesuffix('*')}",
            "headers": True,
        }
    if plan.target.product == "lite":
        name = "libtensorflowlite.so"
        return {"targets": [], "files": [f"lite/{name}"], "glob": name, "headers": False}
    return None


# Windows ---------------------------------------------------------------------------------------


def _windows(plan: Plan) -> list[OutFile]:
    with_cmake = bool(plan.value("cmake"))
    edits = source_edits(plan)
    common = _common(plan)
    march = _arch(plan)
    common["march"] = march
    common["variables"] |= {"CC_OPT_FLAGS": f"/arch:{march or 'AVX'}"}
    context = common | {
        "tool": "cmake" if with_cmake else "bazel",
        "wheel_rule": within(plan.target.version, ">=2.17"),
        "cmake": plan.value("cmake"),
        "msvc": plan.value("compiler").split()[1],
        "vs_range": _VISUAL_STUDIO.get(plan.value("compiler").split()[1], ""),
        "cuda": _windows_cuda(plan) if plan.target.cuda else None,
        "edits": bool(edits),
        "archives": [row for row in externals(plan) if row.sha256] if with_cmake else [],
        "repositories": [row for row in externals(plan) if row.revision] if with_cmake else [],
        "bazel": None,
    }
    if not with_cmake:
        tool = bazel(plan)
        context["bazel"] = tool | {"name": _base(tool["file"]["urls"][0])}
    found = [
        _file("build.ps1", engine.render("script/build.ps1.j2", context)),
        _file("build.cmd", engine.render("script/build.cmd.j2", context)),
    ]
    if edits:
        found.append(_file("edits.json", json.dumps(edits, indent=1) + "\n"))
        found.append(_file("edit.py", engine.render("script/edit.py.j2", {})))
    return found


def _arch(plan: Plan) -> str:
    """The compiler's name of an instruction set; Visual C++ has three, and none is `native`."""
    march = plan.value("march").upper()
    if march not in ("", "AVX", "AVX2", "AVX512"):
        raise ConflictError(
            f"Visual C++ cannot compile for --march {plan.value('march')}",
            "it knows AVX, AVX2 and AVX512",
            "--march avx2, if the machines have it",
        )
    return march


def _windows_cuda(plan: Plan) -> dict[str, str]:
    return {
        "version": plan.value("cuda"),
        "minor": plan.cuda_minor,
        "cudnn_major": plan.value("cudnn").split(".")[0],
    }


def externals(plan: Plan) -> list[schema.CmakeExternal]:
    """What the CMake build downloads; empty where no facts tell."""
    rows = facts.rows(schema.CmakeExternal)
    return [row for row in rows if within(plan.target.version, row.versions)]


def source_edits(plan: Plan) -> list[dict[str, object]]:
    """The edits that this toolchain needs, with its versions filled in."""
    minor = plan.cuda_minor if plan.target.cuda else ""
    values = {
        "cuda": minor,
        "cuda_digits": minor.replace(".", ""),
        "cudnn": plan.value("cudnn").split(".")[0],
    }
    found: list[dict[str, object]] = []
    for row in facts.rows(schema.SourceEdit):
        fits = row.platform == plan.target.platform and within(plan.target.version, row.versions)
        if fits and (not row.cuda_range or (minor and within(minor, row.cuda_range))):
            replace = row.replace
            for name, value in values.items():
                replace = replace.replace("{" + name + "}", value)
            found.append(
                {
                    "file": row.file,
                    "find": row.find,
                    "replace": replace,
                    "count": row.count,
                    "reason": row.reason,
                }
            )
    return found
