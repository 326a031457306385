"""Lock -> a flake: data in `target.json`, one small expression beside it, a real `flake.lock`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.render import engine, recipe
from tfenv.render.plan import OutFile, Plan
from tfenv.toolchain.base import compiler_major


def files(plan: Plan, purposes: tuple[str, ...]) -> list[OutFile]:
    """The files of the format nix.

    Raises:
        ConflictError: no nixpkgs release is known to have what the target needs.
    """
    table = plan.lock.formats.get("nix", {})
    if "nixpkgs" not in table:
        reason = table["unavailable"].reason if "unavailable" in table else "the lock names none"
        raise ConflictError(
            f"Nix cannot serve {plan.target.name}",
            reason,
            "choose --format docker or conda",
        )
    found = [
        _file("flake.nix", _flake(plan)),
        _file("flake.lock", flake_lock(plan)),
        _file("target.json", _json(target_data(plan))),
        _file("requirements.txt", plan.requirements),
    ]
    if plan.build_requirements:
        found.append(_file("requirements.tools.txt", plan.build_requirements))
    if "build" in purposes:
        found.append(_file("requirements.build.txt", plan.build_environment(), "build"))
        found.append(_file("build.sh", recipe.script(plan, "nix"), "build", executable=True))
    if "run" in purposes and plan.suite_requirements:
        found.append(_file("requirements.suite.txt", plan.suite_requirements, "run"))
        found.append(_file("expect.json", plan.expectation(released=True), "run"))
        found.append(_file("verify.sh", _verify(plan), "run", executable=True))
    return found


def _file(name: str, text: str, purpose: str = "", *, executable: bool = False) -> OutFile:
    return OutFile(f"nix/{name}", "nix", purpose, text, executable)


def _flake(plan: Plan) -> str:
    context = {
        "target": plan.target.name,
        "rev": plan.artifact("nixpkgs").rev,
        "nixpkgs_path": plan.nixpkgs_path,
        "substituter": plan.mirrors.get("nix"),
    }
    return engine.render("nix/flake.nix.j2", context)


def _verify(plan: Plan) -> str:
    context = {"target": plan.target.name, "tools": bool(plan.build_requirements)}
    return engine.render("nix/verify.sh.j2", context)


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def target_data(plan: Plan) -> dict[str, object]:
    """What the expression reads: attributes to try, Bazel by hash, variables."""
    release = plan.lock.formats["nix"]["nixpkgs"].value
    family, _, version = plan.value("compiler").lower().partition(" ")
    compiler = _attributes(release, family, compiler_major(family, version))
    attributes = {
        "python": _attributes(release, "python", plan.value("python")),
        "compiler": compiler,
    }
    if family == "clang":
        attributes["linker"] = [_linker(name) for name in compiler]
    variables = recipe.variables(plan, "nix")
    if "cuda" in plan.lock.formats["nix"]:
        minor = ".".join(plan.value("cuda", "nix").split(".")[:2])
        attributes["cuda"] = _attributes(release, "cuda", minor)
        attributes["cudnn"] = _attributes(release, "cudnn", minor)
    bazel = plan.artifact("bazel")
    if not bazel.sha256:
        raise ConflictError(
            f"Bazel {bazel.version} has no binary with a known hash",
            "Nix fetches nothing without one",
            "choose another --bazel",
        )
    mirror = plan.mirrors.get("bazel")
    file = bazel.urls[0].rsplit("/", 1)[-1]
    urls = [f"{mirror}/{bazel.version}/{file}"] if mirror else []
    return {
        "name": plan.target.name,
        "system": "aarch64-linux" if plan.target.platform == "linux-aarch64" else "x86_64-linux",
        "nixpkgs": release,
        "attributes": attributes,
        "bazel": {
            "version": bazel.version,
            "name": file,
            "urls": [*urls, *bazel.urls],
            "sha256": bazel.sha256,
        },
        "compiler": family,
        "cuda": "cuda" in attributes,
        "variables": variables,
        "pipIndex": plan.mirrors.get("pip"),
        "tools": bool(plan.build_requirements),
        "suite": bool(plan.suite_requirements),
    }


def _linker(compiler: str) -> str:
    """LLVM's linker, beside its clang: llvmPackages_18.lld or lld_18."""
    return compiler.replace(".clang", ".lld").replace("clang_", "lld_")


def _attributes(release: str, component: str, wanted: str) -> list[str]:
    for row in facts.rows(schema.NixChoice):
        if (row.release, row.component, row.wanted) == (release, component, wanted):
            return list(row.attributes)
    return []


def flake_lock(plan: Plan) -> str:
    """`flake.lock` as Nix itself would write it, from the locked revision.

    A folder in its place carries the same narHash: Nix takes it only where it is that revision.
    """
    pin = plan.artifact("nixpkgs")
    if not plan.nixpkgs_path:
        return lock_file({"nixpkgs": (pin.rev, pin.nar_hash, pin.last_modified)})
    original = {"path": plan.nixpkgs_path, "type": "path"}
    # Without lastModified, which Nix would compare with the times of the files there.
    locked = {"narHash": pin.nar_hash, **original}
    return _nodes({"nixpkgs": {"flake": False, "locked": locked, "original": original}})


def lock_file(inputs: Mapping[str, tuple[str, str, int]]) -> str:
    """`flake.lock` of a flake whose inputs are nixpkgs revisions, taken as plain source trees.

    Args:
        inputs: by name: revision, narHash, lastModified in seconds since the epoch.
    """
    nodes = {}
    for name, (rev, nar_hash, last_modified) in inputs.items():
        original = {"owner": "NixOS", "repo": "nixpkgs", "rev": rev, "type": "github"}
        locked = {"lastModified": last_modified, "narHash": nar_hash, **original}
        nodes[name] = {"flake": False, "locked": locked, "original": original}
    return _nodes(nodes)


def _nodes(nodes: Mapping[str, object]) -> str:
    root = {"inputs": {name: name for name in nodes}}
    return _json({"nodes": {**nodes, "root": root}, "root": "root", "version": 7})
