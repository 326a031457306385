"""The rules: what is chosen, why, and what is refused with a way out."""

from __future__ import annotations

import re

import pytest

from tfenv import facts, lock, toolchain
from tfenv.errors import ConflictError, UnknownTargetError, UnsafeValueError
from tfenv.facts import schema
from tfenv.target import Target, catalogue, parse, releases, version_key
from tfenv.toolchain import Choices, Toolchain, gpu, hostcc, lookup
from tfenv.toolchain import catalogue as listed
from tfenv.toolchain.base import certainly_within, compiler_major


def choose(name: str, **choices: str) -> Toolchain:
    return toolchain.choose(parse(name), Choices(**choices))


def refused(name: str, **choices: str) -> ConflictError:
    with pytest.raises(ConflictError) as caught:
        choose(name, **choices)
    assert caught.value.exit_code == 3
    return caught.value


def test_the_headline_target() -> None:
    chain = choose("2.6.5-cuda")
    values = {key: chosen.value for key, chosen in chain.values.items()}
    assert values["python"] == "3.7"
    assert values["numpy"] == "1.19.5"
    assert values["protobuf"] == "3.19.4"
    assert values["keras"] == "2.6.0"
    assert values["compiler"] == "GCC 7.5"
    assert values["bazel"] == "3.7.2"
    assert values["cuda"] == "11.3.1"
    assert values["cudnn"] == "8.2.1.32"
    assert values["base"] == "ubuntu:18.04"


@pytest.mark.parametrize(
    "name",
    ["1.15.5-cpu", "1.15.5-cuda", "2.6.5-cpu", "2.6.5-cuda", "2.21.0-cpu", "2.21.0-cuda"],
)
def test_every_value_has_a_reason_and_a_source(name: str) -> None:
    for key, chosen in choose(name).values.items():
        assert chosen.value, key
        assert len(chosen.reason) > 10, key
        assert chosen.source, key


def test_the_tested_cuda_can_be_chosen() -> None:
    chain = choose("2.6.5-cuda", cuda="11.2")
    assert chain.get("cuda").startswith("11.2.")
    assert chain.get("cudnn").startswith("8.1.")
    assert chain.values["cuda"].rule == "user"


def test_cuda_that_cannot_compile_for_the_card_is_refused() -> None:
    error = refused("2.6.5-cuda", cuda="11.0", gpu="8.6")
    text = f"{error.what} {error.why} {error.fix}"
    assert "sm_86" in text
    assert "CUDA 11.1" in text
    assert "spack" in text  # the source
    assert "11.3" in error.fix


def test_a_card_may_be_given_by_name() -> None:
    assert choose("2.6.5-cuda", gpu="rtx3090").get("capabilities") == "8.6"
    assert choose("2.6.5-cuda", gpu="RTX 3090").get("capabilities") == "8.6"


def test_a_card_too_new_for_any_cuda_of_the_release() -> None:
    error = refused("2.6.5-cuda", gpu="rtx5090")
    assert "sm_120" in error.what
    assert "PTX" in error.fix
    assert "container" in error.fix


def test_a_card_too_old_for_the_cuda() -> None:
    assert "sm_50" in refused("2.21.0-cuda", gpu="3.5").why


class TestWhatIsLeft:
    """A card that the CUDA of a release does not compile for."""

    def test_another_cuda_of_the_release_comes_first(self) -> None:
        assert refused("2.6.5-cuda", cuda="11.0", gpu="rtx3090").fix == "--cuda 11.3"

    def test_code_of_the_same_major_runs_on_it(self) -> None:
        error = refused("2.10.1-cuda-windows", gpu="rtx4090")
        assert error.fix.startswith("--gpu 8.6: what is compiled for it runs on 8.9 too")
        assert choose("2.10.1-cuda-windows", gpu="8.6").get("capabilities") == "8.6"
        assert "--gpu" not in refused("2.3.4-cuda", gpu="rtx3090").fix

    def test_a_newer_release_then_ptx_then_the_container(self) -> None:
        fix = refused("2.3.4-cuda", gpu="rtx3090").fix
        order = ("2.5.0-cuda is the first", "compute_70 PTX", "NVIDIA's own TensorFlow container")
        places = [fix.index(text) for text in order]
        assert places == sorted(places)
        assert "slow, and no source reports this release working so" in fix

    def test_where_no_release_compiles_for_it_the_newest_wheel_is_named(self) -> None:
        fix = refused("1.15.5-cuda", gpu="rtx5090").fix
        assert "the released wheel of 2.21.0-cuda, whose compute_90 PTX" in fix

    def test_an_old_card_needs_an_older_release(self) -> None:
        error = refused("2.21.0-cuda", gpu="k80")
        assert error.fix.startswith("take an older TensorFlow: 2.14.1-cuda is the last")
        assert "container" not in error.fix
        assert choose("2.14.1-cuda", gpu="k80").get("capabilities") == "3.7"

    def test_what_tensorflow_itself_has_no_code_for(self) -> None:
        assert choose("1.15.5-cuda", gpu="gtx680").get("capabilities") == "3.0"
        error = refused("2.3.4-cuda", gpu="gtx680")
        assert "supports 3.5 and newer only" in error.why
        assert error.fix.startswith("take an older TensorFlow: 1.15.5-cuda is the last")
        assert {e.version for e in listed.matching(listed.Filter(gpu="gtx680"))} <= {
            v for v in releases() if v.startswith("1.")
        }
        assert refused("1.4.0-cuda", gpu="2.0").fix == "take a newer card"


def test_an_unknown_card() -> None:
    assert "--gpu 8.6" in refused("2.6.5-cuda", gpu="voodoo2").fix


def test_python_outside_the_release_names_the_nearest() -> None:
    assert refused("2.6.5-cuda", python="3.11").fix == "--python 3.9"
    assert refused("2.6.5-cuda", python="2.7").fix.startswith("--python 3.")


def test_a_supported_python_is_taken() -> None:
    assert choose("2.6.5-cuda", python="3.9").get("python") == "3.9"
    assert choose("2.6.5-cuda", python="3.8.18").get("python") == "3.8"


def test_bazel_bounds_hold() -> None:
    assert "3.7.2" in refused("2.6.5-cpu", bazel="3.1.0").fix
    assert "0.26.1" in refused("1.15.5-cpu", bazel="0.29.1").why
    assert choose("1.15.5-cpu", bazel="0.25.2").get("bazel") == "0.25.2"


def test_a_bazel_without_known_files_is_refused() -> None:
    assert "no file" in refused("2.6.5-cpu", bazel="3.99.0").what


@pytest.mark.parametrize("via", ["bazelisk", "installer", "binary"])
def test_the_ways_to_get_bazel(via: str) -> None:
    assert choose("2.6.5-cuda", bazel_via=via).get("bazel-via") == via


def test_a_way_that_this_bazel_does_not_come_by() -> None:
    error = refused("2.10.1-cpu", bazel_via="installer")
    assert "installer" in error.what
    assert "binary" in error.fix or "bazelisk" in error.fix


def test_a_compiler_that_breaks_the_build_is_refused() -> None:
    error = refused("2.6.5-cpu", compiler="gcc-13")
    assert "GCC 13" in error.what
    assert "gcc-7" in error.fix


class TestHostCompiler:
    """CUDA's own check of GCC, Clang and Visual Studio."""

    def test_no_default_is_refused(self) -> None:
        seen = set()
        for target in catalogue().values():
            if target.cuda and target.product == "wheel":
                chosen = toolchain.choose(target).values["host-compiler"]
                seen.add((chosen.rule, chosen.value.partition(" ")[0]))
        assert seen == {
            ("host-config", "GCC"),
            ("host-config", "MSVC"),
            ("tested", "Clang"),
            ("not-known", "MSVC"),
        }

    def test_what_tensorflow_tested_is_taken_and_the_reason_says_that_it_lies_outside(self) -> None:
        chosen = choose("2.16.2-cuda").values["host-compiler"]
        assert chosen.value == "Clang 18"
        assert "Clang >3.2,<16" in chosen.reason
        assert "tested it with Clang 17.0.6, outside of that" in chosen.reason
        assert "-allow-unsupported-compiler" in chosen.reason
        assert "TF_CUDA_CLANG=1" in choose("2.18.1-cuda").values["host-compiler"].reason

    @pytest.mark.parametrize("compiler", ["clang-17", "clang-18"])
    def test_the_tested_compiler_and_the_default_can_be_chosen(self, compiler: str) -> None:
        assert choose("2.16.2-cuda", compiler=compiler).get("compiler") == "Clang 18"

    def test_another_clang_outside_is_refused(self) -> None:
        error = refused("2.16.2-cuda", compiler="clang-16")
        assert error.what == "CUDA 12.3 refuses Clang 16 as host compiler"
        assert "Clang >3.2,<16" in error.why
        assert error.fix == "--compiler clang-15 (TensorFlow tested clang-17)"
        assert choose("2.16.2-cuda", compiler="clang-15").get("compiler") == "Clang 15"

    def test_where_no_compiler_of_the_family_is_left_the_tested_one_is_named(self) -> None:
        assert refused("2.6.5-cuda", compiler="clang-14").fix == "--compiler gcc-7"

    def test_visual_studio_is_held_to_its_numbers(self) -> None:
        target = parse("2.10.1-cuda-windows")
        chosen = hostcc.host_compiler(target, "11.2.2", "MSVC 2019")
        assert "Visual Studio 2019 has 1920 to 1929" in chosen.reason
        with pytest.raises(ConflictError) as caught:
            hostcc.host_compiler(target, "10.0.130", "MSVC 2019")
        assert "_MSC_VER >=1700,<1920" in caught.value.why
        assert caught.value.fix == "--cuda 11.2"
        with pytest.raises(ConflictError):
            hostcc.host_compiler(target, "11.2.2", "MSVC 2015 update 3")

    def test_an_unknown_limit_refuses_nothing_and_says_so(self) -> None:
        chosen = choose("2.4.1-cuda-windows").values["host-compiler"]
        assert "stands in no source" in chosen.reason
        for cuda, compiler in (("9.0.176", "Clang 4"), ("77.1.0", "GCC 99")):
            free = hostcc.host_compiler(parse("1.5.0-cuda"), cuda, compiler)
            assert free.rule == "not-known"


ASKED = {
    "python": ["2.7", "3.5", "3.14", "banana"],
    "cuda": ["7.5", "9.2", "11.0", "12.1", "banana"],
    "cudnn": ["5", "7.6", "8.1", "99", "banana"],
    "gpu": ["k80", "h100", "rtx3090"],
    "compiler": ["gcc-4.8", "gcc-10", "gcc-14", "clang-7", "clang-16", "icc-3", "gcc-x", "gcc"],
    "bazel": ["0.1.0", "0.5.4", "0.26.1", "3.7.2", "99.0", "x"],
    "bazel_via": ["installer", "pip"],
    "base": ["ubuntu:16.04", "ubuntu:24.04", "debian:12", "centos:7"],
}
HERE = [name for name, target in catalogue().items() if target.product == "wheel"]


@pytest.mark.parametrize("name", [*HERE[::23], "2.6.5-cuda", "2.16.2-cuda", "1.4.0-cuda-windows"])
def test_what_a_refusal_names_instead_works(name: str) -> None:
    """The nearest working choice, taken at its word."""
    for key, values in ASKED.items():
        for value in values:
            try:
                choose(name, **{key: value})
            except ConflictError as error:
                found = re.match(r"--([a-z-]+) (\S+)", error.fix)
                if found is None:
                    unclear = not re.match(r"leave|ask for|take an?|use ", error.fix)
                    if unclear:
                        pytest.fail(f"{name} --{key} {value}: {error.fix}")
                    continue
                again = {key: value} | {found[1].replace("-", "_"): found[2].rstrip(",")}
                if "without --base" in error.fix:
                    del again["base"]
                choose(name, **again)


def test_every_default_can_be_chosen_by_name() -> None:
    for name in HERE[::17]:
        chain = choose(name)
        again = {"python": chain.get("python")}
        if chain.get("bazel"):
            again |= {"bazel": chain.get("bazel"), "bazel_via": chain.get("bazel-via")}
        if chain.target.cuda:
            again |= {"cuda": chain.get("cuda"), "cudnn": chain.get("cudnn")}
        if chain.target.linux:
            family, _, version = chain.get("compiler").lower().partition(" ")
            again |= {"base": chain.get("base"), "compiler": f"{family}-{version}"}
        values = choose(name, **again).values
        assert {key: values[key].value for key in values} == {
            key: chain.values[key].value for key in chain.values
        }, name


def test_the_metadata_of_the_release_bounds_its_packages() -> None:
    refusals = {r.value: r for r in choose("2.16.2-cpu").values["numpy"].rejected}
    bound = refusals["other than <2.0.0,>=1.26.0"]
    assert 'python_version >= "3.12"' in bound.reason
    assert "Requires-Dist" in bound.source
    keras = choose("2.15.1-cpu").values["keras"].rejected
    assert [r.value for r in keras] == ["other than <2.16,>=2.15.0"]
    assert lookup.asks_for(parse("2.15.1-cpu"), "tensor") == []


def test_a_host_compiler_too_new_for_cuda_is_refused() -> None:
    error = refused("2.6.5-cuda", compiler="gcc-12", cuda="11.2")
    assert "GCC 12" in error.what or "GCC 11" in error.what
    assert "gcc-10" in error.fix


def test_cuda_options_need_the_cuda_variant() -> None:
    assert "2.6.5-cuda" in refused("2.6.5-cpu", cuda="11.2").fix


def test_cuda_that_nobody_reports() -> None:
    error = refused("2.6.5-cuda", cuda="12.1")
    assert "11.2" in error.fix
    assert "11.3" in error.fix


def test_an_unlocked_numpy_sends_to_lock() -> None:
    error = refused("2.6.5-cuda", numpy="1.18.5")
    assert "tfenv lock 2.6.5-cuda" in error.fix


@pytest.mark.parametrize("value", ["3.7; rm -rf /", "$(id)", "3.7\n", "`x`", "a" * 65, "-3"])
def test_values_that_could_mean_something_else_are_refused(value: str) -> None:
    with pytest.raises(UnsafeValueError) as caught:
        Choices(python=value)
    assert caught.value.exit_code == 2


def test_the_distribution_follows_the_release() -> None:
    wanted = {
        "1.15.5-cpu": "tensorflow==1.15.5",
        "1.15.5-cuda": "tensorflow-gpu==1.15.5",
        "2.0.4-cuda": "tensorflow-gpu==2.0.4",
        "2.6.5-cuda": "tensorflow==2.6.5",
        "2.6.5-cpu": "tensorflow-cpu==2.6.5",
        "2.21.0-cuda": "tensorflow[and-cuda]==2.21.0",
        "2.6.0-cuda-windows": "tensorflow-gpu==2.6.0",
    }
    assert {name: lookup.requirement(parse(name)) for name in wanted} == wanted


def test_compute_capabilities_by_number() -> None:
    for text in ("8.6", "sm_86", "86", "compute_86"):
        assert gpu.capability(text)[0] == "8.6"
    assert gpu.capability("12.0")[0] == "12.0"
    assert gpu.capability("sm_120")[0] == "12.0"


def test_a_compiler_package_is_named_by_its_major() -> None:
    assert compiler_major("gcc", "4.8.5") == "4.8"
    assert compiler_major("gcc", "7.5") == "7"
    assert compiler_major("clang", "18.1.8") == "18"


def test_a_major_alone_is_refused_only_when_all_of_it_is() -> None:
    assert certainly_within("13", ">=13")
    assert not certainly_within("9", "<=9.3.0")
    assert certainly_within("8", "<=9.3.0")


def test_no_row_of_the_facts_makes_a_default_toolchain_conflict() -> None:
    """The defaults of every release keep every rule; what cannot be chosen would be here."""
    from tfenv.target import catalogue

    for name, target in catalogue().items():
        if target.product == "wheel" and target.platform == "linux-x86_64":
            try:
                toolchain.choose(target)
            except ConflictError as error:
                pytest.fail(f"{name}: {error.what}; {error.why}")


def test_a_preference_needs_a_reason() -> None:
    assert all(row.reason and row.source for row in facts.rows(schema.Preference))


@pytest.mark.parametrize(
    ("card", "capability"),
    [
        ("RTX 3090", "8.6"),
        ("A100", "8.0"),
        ("H100", "9.0"),
        ("RTX 5090", "12.0"),
        ("GTX 1080 Ti", "6.1"),
        ("geforce rtx 2080 ti", "7.5"),
        ("tesla v100", "7.0"),
        ("NVIDIA GeForce RTX 3090", "8.6"),
        ("3090 Ti", "8.6"),
        ("rtx_3090", "8.6"),
        ("geforce 3090", "8.6"),
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("A100 80GB PCIe", "8.0"),
        ("Tesla V100-SXM2-32GB", "7.0"),
        ("Tesla P100-PCIE-16GB", "6.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("GH200 480GB", "9.0"),
        ("GeForce RTX 3080 Laptop GPU", "8.6"),
        ("GTX 1070 Max-Q", "6.1"),
        ("Tesla K40c", "3.5"),
        ("Tesla K20Xm", "3.5"),
        ("K80", "3.7"),
        ("GTX 680", "3.0"),
        ("GTX 750 Ti", "5.0"),
        ("GTX 980", "5.2"),
        ("GTX 1060 6GB", "6.1"),
        ("TITAN V", "7.0"),
        ("GTX 1660 Super", "7.5"),
        ("T4", "7.5"),
        ("RTX 4070 Ti SUPER", "8.9"),
        ("RTX 6000 Ada Generation", "8.9"),
        ("L40S", "8.9"),
        ("B200", "10.0"),
        ("RTX PRO 6000 Blackwell Server Edition", "12.0"),
        ("DGX Spark", "12.1"),
        ("Jetson Nano", "5.3"),
    ],
)
def test_cards_by_name(card: str, capability: str) -> None:
    found, source = gpu.capability(card)
    assert found == capability
    assert len(source) > len(card)


def test_every_card_is_found_by_each_of_its_names() -> None:
    for row in facts.rows(schema.Gpu):
        for name in (row.name, row.name.upper(), f"NVIDIA {row.name}", *row.aliases):
            assert gpu.capability(name)[0] == row.capability, name


@pytest.mark.parametrize(
    ("card", "like"),
    [("titan x", "GeForce GTX TITAN X"), ("rtx 3095", "RTX 309"), ("H100X", "H100")],
)
def test_a_card_that_is_nearly_one(card: str, like: str) -> None:
    with pytest.raises(ConflictError) as caught:
        gpu.capability(card)
    assert like in caught.value.fix


def test_the_abi_is_the_releases_and_the_tag_is_the_base_systems() -> None:
    old, new = choose("2.6.5-cpu"), choose("2.12.1-cpu")
    assert (old.get("cxx11-abi"), new.get("cxx11-abi")) == ("0", "1")
    assert old.get("wheel-tag") == "manylinux_2_27_x86_64"
    assert "manylinux2010" in old.values["wheel-tag"].reason
    newer = choose("2.6.5-cpu", base="debian:12", compiler="gcc-12").values["wheel-tag"]
    assert newer.value == "manylinux_2_36_x86_64"
    assert "manylinux_2_27" in {refused.value for refused in newer.rejected}
    assert choose("2.15.1-cpu-arm64").get("wheel-tag").endswith("_aarch64")
    assert "wheel-tag" not in choose("2.6.0-cpu-macos").values


def test_cuda_is_hermetic_from_2_18_on() -> None:
    before, since = choose("2.17.1-cuda"), choose("2.18.0-cuda")
    assert (before.get("cuda-via"), since.get("cuda-via")) == ("toolkit", "hermetic")
    urls = {a.name: a.urls[0] for a in lock.make(since).artifact if a.kind in ("cuda", "cudnn")}
    assert urls["cuda"].endswith("redistrib_12.5.1.json")
    assert urls["cudnn"].endswith("redistrib_9.3.0.json")
    urls = {a.name: a.urls[0] for a in lock.make(before).artifact if a.kind == "cuda"}
    assert urls["cuda"].endswith(".run")


def test_windows_is_built_by_cmake_through_1_10() -> None:
    assert choose("1.10.0-cpu-windows").get("cmake")
    assert "bazel" not in choose("1.10.0-cpu-windows").values
    assert choose("1.11.0-cpu-windows").get("bazel") == "0.15.0"
    assert "CMake" in refused("1.4.0-cuda-windows", bazel="0.15.0").why


def test_windows_had_cuda_through_2_10() -> None:
    with pytest.raises(UnknownTargetError) as caught:
        parse("2.11.0-cuda-windows")
    assert "2.10" in caught.value.why
    assert choose("2.10.1-cuda-windows").get("cuda").startswith("11.2")


def test_the_first_windows_target() -> None:
    chain = choose("1.4.0-cuda-windows")
    values = {key: chain.get(key) for key in ("python", "cmake", "compiler", "cudnn")}
    assert values == {
        "python": "3.6",
        "cmake": "3.6.3",
        "compiler": "MSVC 2015 update 3",
        "cudnn": "7",
    }
    assert chain.get("cuda").startswith("9.0")
    assert choose("1.4.0-cuda-windows", cuda="8.0").get("cuda").startswith("8.0")
    assert choose("1.4.0-cuda-windows", python="3.5").get("python") == "3.5"
    assert choose("1.4.0-cuda").get("cuda").startswith("8.0")


def test_old_bazels_on_macos_need_a_jdk() -> None:
    chain = choose("1.15.5-cpu-macos-cc")
    assert (chain.get("jdk"), chain.get("bazel")) == ("8", "0.26.1")
    assert "jdk" not in choose("2.6.0-cpu-macos").values
    assert choose("2.6.0-cpu-macos", march="native").get("march") == "native"


def test_the_driver_is_the_least_that_the_cuda_runs_under() -> None:
    assert choose("2.6.5-cuda").get("driver") == ">=450.80.02"
    assert choose("1.15.5-cuda").get("driver") == ">=410.48"


def test_python_3_5_is_for_one_target_only() -> None:
    assert "3.6" in refused("1.15.5-cpu", python="3.5").fix


def test_without_a_tested_build_the_nearest_is_taken_and_said() -> None:
    windows = choose("2.13.1-cpu-windows").values["compiler"]
    assert "documents no tested build of 2.13.1 on windows-x86_64" in windows.reason
    arm = choose("2.15.1-cpu-arm64").values["compiler"]
    assert "on linux-x86_64" in arm.reason
    assert "documents no tested" not in choose("2.6.5-cpu").values["compiler"].reason


def test_cuda_is_never_carried_from_one_minor_to_another() -> None:
    later = Target("2.99.0", "cuda")
    assert lookup.tested(later) is None
    assert lookup.tested(Target("2.99.0", "cpu")) is not None


def test_a_cudnn_without_an_archive_is_refused() -> None:
    error = refused("2.6.5-cuda", cudnn="7.6")
    assert "8.2.1" in error.why
    assert "--cudnn 8.2.1" in error.fix


def test_nvidia_deletes_images() -> None:
    error = refused_lock("1.15.5-cuda", base="nvidia")
    assert "NVIDIA deletes old tags" in error.why


def refused_lock(name: str, **choices: str) -> ConflictError:
    with pytest.raises(ConflictError) as caught:
        lock.make(choose(name, **choices))
    return caught.value


def test_a_pair_of_a_linux_distribution_says_nothing_of_windows() -> None:
    chain = choose("2.6.0-cuda-windows")
    assert chain.get("cuda").startswith("11.2")
    assert chain.get("cudnn").startswith("8.1")
    assert choose("2.6.0-cuda").get("cuda").startswith("11.3")


def test_every_conflict_of_the_facts_is_held_by_something() -> None:
    """gcc, clang and cards by refusals (above); the others here."""
    subjects = {row.subject for row in facts.rows(schema.BuildConflict)}
    assert subjects == {
        "gcc",
        "clang",
        "compute-capability",
        "wheel",
        "macos",
        "cuda-on-macos",
        "cuda-on-windows",
    }
    base = choose("2.15.1-cpu-macos-arm64").values["base"]
    assert [refused.value for refused in base.rejected] == ["macOS >=26"]
    assert choose("2.20.0-cpu-macos-arm64").values["base"].rejected == ()
    for row in facts.rows(schema.BuildConflict):
        if row.subject == "wheel":
            assert any(pin.package == "wheel" for pin in lookup.pins(parse("2.12.1-cpu"), "3.9"))
    cuda = [target for target in catalogue().values() if target.cuda]
    assert not any(target.platform.startswith("macos") for target in cuda)
    windows = {t.version for t in cuda if t.platform == "windows-x86_64"}
    assert max(windows, key=version_key).startswith("2.10.")


def test_the_compiler_of_a_system_can_be_named_and_no_other() -> None:
    for name in ("msvc-2015", "MSVC 2015 update 3"):
        chain = choose("1.4.0-cuda-windows", compiler=name)
        assert chain.get("compiler") == "MSVC 2015 update 3"
    for name in ("msvc-201", "msvc-2019", "gcc-7"):
        error = refused("1.4.0-cuda-windows", compiler=name)
        assert "MSVC 2015 update 3" in error.why
    assert refused("2.6.0-cpu-macos", base="ubuntu:18.04").fix == "leave the option out"
