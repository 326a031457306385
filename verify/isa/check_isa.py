"""What the wheel does with the processor's instructions: here, with fewer, and with too few."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from tfsuite import releases
from tfsuite.checks import Wrong, check, require, same

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "work.py")
# Google's x86_64 wheels need AVX from 1.6 on (its release notes); before that, SSE3.
AVX_SINCE = ">=1.6"
# The names that TensorFlow's cpu_feature_guard uses, and those of /proc/cpuinfo.
FEATURES = {
    "SSE4.1": "sse4_1",
    "SSE4.2": "sse4_2",
    "AVX": "avx",
    "AVX2": "avx2",
    "FMA": "fma",
    "AVX512F": "avx512f",
}
_SAID = {}


def processor():
    """The features of this processor, by TensorFlow's names."""
    try:
        with open("/proc/cpuinfo") as stream:
            flags = set(re.search(r"^flags\s*:(.*)$", stream.read(), re.M).group(1).split())
    except (OSError, AttributeError):
        pytest.skip("this system does not list its processor's features in /proc/cpuinfo")
    return {name for name, flag in FEATURES.items() if flag in flags}


def work(before=(), limit=150, **variables):
    """(status, text) of a small computation in a new process."""
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0", **variables)
    try:
        done = subprocess.run(
            list(before) + [sys.executable, "-I", WORK],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit,
            universal_newlines=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired as error:
        raise Wrong("it did not end in %d s: %s" % (limit, str(error.output)[-200:])) from error
    return done.returncode, done.stdout


def here():
    """The computation as it runs on this machine; once per process."""
    if "here" not in _SAID:
        _SAID["here"] = work()
    return _SAID["here"]


def result(text):
    """The JSON line of `work.py`; None when it did not come to it."""
    lines = [line for line in text.splitlines() if line.startswith('{"')]
    return json.loads(lines[-1]) if lines else None


def guard(text):
    """(wording, features) of the line in which TensorFlow names instructions; None without one."""
    patterns = (
        ("not compiled", r"not compiled to use: ([A-Z0-9_. ]+)"),
        ("oneDNN", r"CPU instructions in performance-critical operations:\s+([A-Z0-9_. ]+)"),
        ("rebuild", r"To enable the following instructions: ([A-Z0-9_. ]+), in other operations"),
    )
    for wording, pattern in patterns:
        found = re.search(pattern, text)
        if found:
            return wording, set(found.group(1).split())
    return None


def x86(expect):
    if not expect.get("platform", "linux").endswith(("x86_64", "linux")):
        pytest.skip("about x86_64 only")


@check(
    "isa.message",
    proves="The instructions that TensorFlow says it could use are this processor's, and not its own.",
    catches=["isa-message-silenced"],
    platforms=["linux"],
)
def check_message(expect):
    x86(expect)
    code, text = here()
    same("the computation's end", code, 0)
    found = guard(text)
    require(found is not None, "no line names instructions: %r" % text[-200:])
    wording, named = found
    named = {name for name in named if name in FEATURES}
    strange = named - processor()
    require(not strange, "this processor has no %s" % ", ".join(sorted(strange)))
    require(named, "the line names none of %s" % ", ".join(sorted(FEATURES)))
    if wording == "not compiled":
        built = (
            {"AVX", "SSE4.1", "SSE4.2"} if releases.holds(AVX_SINCE, expect["version"]) else set()
        )
        clash = named & built
        # A build with -march=native names nothing that it needs; a generic one needs only AVX.
        require(
            not clash, "it needs %s and says that it does not use it" % ", ".join(sorted(clash))
        )
    return "%s: %s" % (wording, " ".join(sorted(named)))


@check(
    "isa.onednn_limit",
    proves="ONEDNN_MAX_CPU_ISA reaches oneDNN inside the wheel, and the results stay the same.",
    catches=["isa-limit-ignored"],
    releases=">=2.5",
    platforms=["linux"],
    limit=170,
    profile="full",
)
def check_onednn_limit(expect):
    x86(expect)
    if "AVX2" not in processor():
        pytest.skip("this processor has nothing beyond AVX to leave out")
    on = {"TF_ENABLE_ONEDNN_OPTS": "1", "ONEDNN_VERBOSE": "1", "DNNL_VERBOSE": "1"}
    names = []
    values = []
    for limit in ("", "SSE41"):
        extra = {"ONEDNN_MAX_CPU_ISA": limit, "DNNL_MAX_CPU_ISA": limit} if limit else {}
        code, text = work(**dict(on, **extra))
        same("the computation's end with limit %r" % limit, code, 0)
        found = re.search(r"(?:dnnl|onednn)_verbose.*?isa:([^\n]+)", text)
        if not found:
            pytest.skip("oneDNN in this wheel prints no instruction set")
        names.append(found.group(1).strip())
        values.append(result(text)["convolution"])
    require("SSE4.1" in names[1] and names[0] != names[1], "without and with a limit: %s" % names)
    apart = abs(values[0] - values[1])
    require(apart <= 16 * 2.0**-24 * 4000, "the convolution differs by %.3g" % apart)
    return "%s, limited to %s" % tuple(names)


@check(
    "isa.libc_limit",
    proves="With the C library's own AVX2 routines off, the results are bit for bit the same.",
    catches=["libc-decides"],
    platforms=["linux"],
    limit=120,
    profile="full",
)
def check_libc_limit(expect):
    x86(expect)
    _, text = here()
    setting = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS"
    code, limited = work(GLIBC_TUNABLES=setting)
    same("the computation's end", code, 0)
    same("its results", result(limited), result(text))
    return setting


def emulated(model):
    """Start of a command that runs under another processor."""
    qemu = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if not qemu:
        pytest.skip("needs qemu-x86_64: apt-get install qemu-user")
    return [qemu, "-cpu", model]


@check(
    "isa.without_avx",
    proves="On a processor without AVX the wheel does what is known of it: runs, says so, or dies.",
    catches=["isa-floor-raised"],
    platforms=["linux"],
    limit=400,
    profile="full",
)
def check_without_avx(expect):
    x86(expect)
    code, text = work(emulated("Nehalem"), limit=380)
    value = result(text)
    if value is not None:
        require(
            not releases.holds(AVX_SINCE, expect["version"]) or expect.get("released") is False,
            "it runs without AVX, which this release is known to need",
        )
        same("its results", value["matmul"], result(here()[1])["matmul"])
        return "runs: needs no AVX"
    said = re.search(r"compiled to use (\w+) instructions", text)
    end = outcome(code, text)
    require(releases.holds(AVX_SINCE, expect["version"]), "needs more than it may: %s" % end)
    return "%s%s" % (
        end,
        "; it says that it needs " + said.group(1) if said else "; without a word",
    )


def outcome(code, text):
    """How an emulated program ended: qemu reports the signal of its guest."""
    found = re.search(r"uncaught target signal (\d+) \(([^)]+)\)", text)
    if found:
        return "%s (signal %s)" % (found.group(2), found.group(1))
    return "status %d" % code


@check(
    "isa.floor",
    proves="On the oldest processor that has what the release needs, it computes the same.",
    catches=["isa-floor-raised"],
    platforms=["linux"],
    limit=400,
    profile="full",
)
def check_floor(expect):
    x86(expect)
    model = "SandyBridge" if releases.holds(AVX_SINCE, expect["version"]) else "Nehalem"
    code, text = work(emulated(model), limit=380)
    value = result(text)
    require(value is not None, "on a %s: %s, %s" % (model, outcome(code, text), text[-200:]))
    want = result(here()[1])
    for name in ("matmul", "convolution"):
        # Other instructions sum in another order; 4000 is the sum of the absolute terms.
        apart = abs(value[name] - want[name])
        require(apart <= 16 * 2.0**-24 * 4000, "%s differs by %.3g on a %s" % (name, apart, model))
    return "%s: %s" % (model, value)
