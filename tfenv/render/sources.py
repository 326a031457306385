"""The downloads of a plan, as templates take them: places in order, a hash, a name."""

from __future__ import annotations

from typing import Any

from tfenv import facts
from tfenv.errors import ConflictError
from tfenv.facts import schema
from tfenv.render.plan import Plan
from tfenv.target import within


def pip_requirement(python: str) -> str:
    """The pip to upgrade to, hash-pinned."""
    row = next(r for r in facts.rows(schema.Installer) if within(python, r.pythons))
    return f"# {row.file} {row.size}\npip=={row.version} --hash=sha256:{row.sha256}\n"


def download(plan: Plan, name: str) -> dict[str, Any] | None:
    found = next((a for a in plan.lock.artifact if a.name == name), None)
    if found is None or not found.urls:
        return None
    if not found.sha256:
        raise ConflictError(
            f"{found.name} {found.version} has no known hash",
            found.unpinned or "the lock does not hold one",
            "a Dockerfile downloads nothing that it cannot check; choose another version",
        )
    return {"version": found.version, "sha256": found.sha256, "urls": found.urls}


def bazel(plan: Plan) -> dict[str, Any]:
    via, mirror = plan.value("bazel-via"), plan.mirrors.get("bazel")
    version = plan.value("bazel")
    name = {"bazelisk": "bazelisk", "installer": "bazel-installer", "binary": "bazel"}[via]
    found = download(plan, name)
    if found is None:
        raise ConflictError(
            f"Bazel {version} has no file with a known hash",
            "the facts name none for this platform",
            "choose another --bazel or --bazel-via",
        )
    context = {"via": via, "version": version, "mirror": mirror, "file": found}
    if via == "bazelisk":
        context["sha256"] = plan.artifact("bazel").sha256
    elif mirror:
        file = str(found["urls"][0]).rsplit("/", 1)[-1]
        found["urls"] = [f"{mirror}/{version}/{file}", *found["urls"]]
    return context
