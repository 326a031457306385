"""The recipe: how one target is configured, compiled and packaged.

One shell script, `build.sh`, that every engine runs: the Dockerfile's build stage, the flake's
`apps.build`, conda and the host.
"""

from __future__ import annotations

import datetime
import functools

from tfenv import facts
from tfenv.facts import schema
from tfenv.render import engine
from tfenv.render.plan import Plan
from tfenv.target import within

_WHEEL = "//tensorflow/tools/pip_package:build_pip_package"
_WHEEL_SINCE_217 = "//tensorflow/tools/pip_package:wheel"


@functools.lru_cache(maxsize=4)  # every format of a plan carries the same
def script(plan: Plan, form: str = "") -> str:
    """The text of `build.sh`.

    Args:
        plan: the target.
        form: the format that it is for; one that pins another CUDA is configured for that one.
    """
    return engine.render(
        "build/build.sh.j2",
        {
            "target": plan.target.name,
            "version": plan.target.version,
            "product": plan.target.product,
            "variables": variables(plan, form),
            "flags": flags(plan),
            "bazel_target": bazel_target(plan),
            "output": output(plan),
            "wheel_rule": within(plan.target.version, ">=2.17"),
            "cuda": plan.target.cuda,
            "march": plan.value("march"),
            "cc": compiler(plan),
            "epoch": _epoch(plan.lock.as_of),
            "patches": [a.sha256 for a in plan.lock.artifact if a.kind == "patch"],
            "written": written(plan, form),
            "unwritten": [] if plan.target.cuda else ["--config=cuda"],
            "remote_options": remote_options(plan),
            "disable_download": _since(plan, "4.1", "--experimental_repository_disable_download"),
            "downloader_config": _since(plan, "4.0", "--experimental_downloader_config"),
        },
    )


def compiler(plan: Plan) -> str:
    """The compiler's program, where the environment's CC names none."""
    return "clang" if plan.value("compiler").startswith(("Xcode", "Clang")) else "gcc"


def _epoch(as_of: str) -> int:
    """Midnight UTC of the lock's date, in seconds: what files of the product are dated."""
    return int(datetime.datetime.fromisoformat(f"{as_of}T00:00:00+00:00").timestamp())


def _since(plan: Plan, version: str, option: str) -> str:
    """An option of Bazel, where the toolchain's Bazel has it.

    Sources: Bazel's changelog (disable_download: 4.1) and its pull requests cherry-picked to 4.1
    (the downloader configuration is in 4.0; seen to work in 4.2.3).
    """
    bazel = plan.value("bazel")
    return option if bazel and within(bazel, f">={version}") else ""


def remote_options(plan: Plan) -> list[str]:
    """What has actions run remotely: TensorFlow's own .bazelrc (through 2.3) says `standalone`,
    and `--remote_executor` alone would run nothing.

    Source: Bazel's user manual; a list of strategies is taken from 0.27 on, one before.
    """
    bazel = plan.value("bazel")
    first = "remote,local" if bazel and within(bazel, ">=0.27") else "remote"
    # A busy service answers late: Bazel's own limit of 60 s ends a build whose upload of a wheel's
    # headers takes longer (measured).
    return [f"--spawn_strategy={first}", f"--strategy=Genrule={first}", "--remote_timeout=600"]


def written(plan: Plan, form: str = "") -> list[str]:
    """What configure must have written, or the answers did not arrive.

    Source: the files that the real configure.py wrote for six releases.
    """
    if not plan.target.cuda:
        return []
    names = (
        ["HERMETIC_CUDA_VERSION", "HERMETIC_CUDNN_VERSION", "HERMETIC_CUDA_COMPUTE_CAPABILITIES"]
        if within(plan.target.version, ">=2.18")
        else ["TF_CUDA_VERSION", "TF_CUDNN_VERSION", "TF_CUDA_COMPUTE_CAPABILITIES"]
    )
    answers = variables(plan, form)
    return [f'{name}="{answers[name]}"' for name in names]


def bazel_target(plan: Plan) -> str:
    """The Bazel target that makes the product."""
    if plan.target.product == "wheel":
        return _WHEEL_SINCE_217 if within(plan.target.version, ">=2.17") else _WHEEL
    return _product(plan).bazel_target


def output(plan: Plan) -> str:
    """Where the product of a library target lies, below the source tree."""
    return "" if plan.target.product == "wheel" else _product(plan).output


def _product(plan: Plan) -> schema.ProductFact:
    return next(
        row
        for row in facts.rows(schema.ProductFact)
        if row.product == plan.target.product and within(plan.target.version, row.versions)
    )


def flags(plan: Plan) -> list[str]:
    """Options of `bazel build`."""
    found = ["--config=opt"]
    version = plan.target.version
    if plan.target.cuda:
        found.append("--config=cuda_wheel" if within(version, ">=2.18") else "--config=cuda")
        if _clang(plan) and not _clang_compiles_cuda(plan):
            # TensorFlow's own clang is newer than nvcc names as its host (toolchain.host-compiler).
            found.append("--action_env=NVCC_APPEND_FLAGS=-allow-unsupported-compiler")
    if within(version, ">=1.15,<2"):
        found.append("--config=v1")
    if within(version, ">=2.17") and plan.target.product == "wheel":
        name = plan.lock.toolchain["distribution"].value.partition("==")[0].partition("[")[0]
        found.append(f"--repo_env=WHEEL_NAME={name.replace('-', '_')}")
    return found


def variables(plan: Plan, form: str = "") -> dict[str, str]:
    """What configure reads, so that it asks nothing. Source: facts on each release's configure.py.

    Releases 2.4 to 2.6 fall back to CUDA 10 and 2.18 and newer to capabilities 3.5 and 7.0 when
    they are not told, so both are always set.
    """
    version = plan.target.version
    found = {
        "USE_DEFAULT_PYTHON_LIB_PATH": "1",
        "TF_NEED_CUDA": "1" if plan.target.cuda else "0",
        "TF_NEED_ROCM": "0",
        "TF_NEED_TENSORRT": "0",
        "TF_NEED_OPENCL": "0",
        "TF_NEED_OPENCL_SYCL": "0",
        "TF_NEED_COMPUTECPP": "0",
        "TF_NEED_MPI": "0",
        "TF_NEED_GDR": "0",
        "TF_NEED_VERBS": "0",
        "TF_NEED_GCP": "0",
        "TF_NEED_HDFS": "0",
        "TF_NEED_S3": "0",
        "TF_NEED_KAFKA": "0",
        "TF_NEED_AWS": "0",
        "TF_NEED_IGNITE": "0",
        "TF_NEED_JEMALLOC": "1",
        "TF_ENABLE_XLA": "1",
        "TF_DOWNLOAD_CLANG": "0",
        "TF_SET_ANDROID_WORKSPACE": "0",
        "TF_CUDA_CLANG": "1" if _clang_compiles_cuda(plan) else "0",
        "CC_OPT_FLAGS": _opt_flags(plan),
    }
    if within(version, ">=2.14"):
        found["TF_NEED_CLANG"] = "1" if _clang(plan) else "0"
    if plan.target.cuda:
        found |= _cuda_variables(plan, form)
    return found


def _clang(plan: Plan) -> bool:
    return plan.value("compiler").startswith("Clang")


def _clang_compiles_cuda(plan: Plan) -> bool:
    """Whether clang compiles CUDA too, and not only for nvcc: configure's own answer since 2.18."""
    return plan.target.cuda and _clang(plan) and within(plan.target.version, ">=2.18")


def _opt_flags(plan: Plan) -> str:
    march = plan.value("march")
    return f"-march={march}" if march else "-Wno-sign-compare"


def _cuda_variables(plan: Plan, form: str) -> dict[str, str]:
    capabilities = plan.value("capabilities")
    if within(plan.target.version, ">=2.18"):
        return {
            "HERMETIC_CUDA_VERSION": plan.value("cuda"),
            "HERMETIC_CUDNN_VERSION": ".".join(plan.value("cudnn").split(".")[:3]),
            "HERMETIC_CUDA_COMPUTE_CAPABILITIES": capabilities,
        }
    if within(plan.target.version, "<2.3"):
        # configure.py before 2.3 takes numbers only; sm_ and compute_ names came with 2.3.
        names = (c.rpartition("_")[2] for c in capabilities.split(","))
        capabilities = ",".join(f"{n[:-1]}.{n[-1]}" if "." not in n else n for n in names)
    return {
        "TF_CUDA_VERSION": ".".join(plan.value("cuda", form).split(".")[:2]),
        "TF_CUDNN_VERSION": plan.value("cudnn", form).split(".")[0],
        "TF_CUDA_COMPUTE_CAPABILITIES": capabilities,
        "TF_NCCL_VERSION": "",
    }
