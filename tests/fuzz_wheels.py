"""Feed damaged wheels, libraries, images and envelopes to their readers, for a bounded time.

    python -m tests.fuzz_wheels [SECONDS] [SEED]

A reader may refuse with its own error; anything else that it raises, an input that takes over ten
seconds, memory over 1 GiB, or a file written anywhere is a failure. The seed of a failing input is
printed: the same seed makes the same input.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import random
import struct
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.portable_maker import make_fat, make_mach, make_pe
from tests.wheel_maker import CPU_BUILD_INFO, fat_section, make_wheel
from tfenv.audit import attest, declared, dsse, keyless
from tfenv.audit.compare import audit
from tfenv.audit.quick import quick
from tfenv.audit.sides import open_side
from tfenv.errors import TfenvError
from tfenv.wheel import blob, contents, elf, fatbin, library
from tfenv.wheel.inspect import inspect

SLOW = 10.0  # seconds that no damaged input of a few kilobytes may take
MEMORY = 1 << 20  # kilobytes
DECLARATION = b'format = 1\nversion = ["1", "2"]\n[[change]]\npath = "a"\ndiff = ["-a", "+b"]\n'
SBOM = b'{"metadata":{"component":{"hashes":[{"alg":"SHA-256","content":"ab"}]}}}'
NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Damage data in up to eight places, as a disk, a truncation or an attacker would."""
    content = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if not content:
            break
        at = chance.randrange(len(content))
        kind = chance.randrange(7)
        if kind == 0:
            content[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[at : at + 4] = struct.pack("<I", chance.choice(NUMBERS))
        elif kind == 2:
            content[at : at + 8] = struct.pack("<Q", chance.choice(NUMBERS) << chance.randrange(33))
        elif kind == 3:
            del content[at : at + chance.randint(1, 64)]
        elif kind == 4:
            content[at:at] = content[chance.randrange(len(content)) :][: chance.randint(1, 64)]
        elif kind == 5:
            content[at : at + 3] = chance.choice(
                (b"../", b"\0\0\0", b"\xff\xff\xff", b"..\\", b',\n"')
            )
        else:
            del content[at:]
    return bytes(content)


def small_elf() -> bytes:
    """A real library: the smallest extension module of this Python, else any ELF of it."""
    folder = Path(json.__file__).parents[1] / "lib-dynload"
    files = sorted(folder.glob("*.so"), key=lambda path: path.stat().st_size)
    return files[0].read_bytes() if files else b"\x7fELF\2\1\1" + bytes(400)


def small_image() -> bytes:
    """An OCI layout of one gzipped layer, as a tar."""
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        item = tarfile.TarInfo("etc/conf")
        item.size = 2
        archive.addfile(item, io.BytesIO(b"a\n"))
    layer = gzip.compress(inner.getvalue(), mtime=0)
    blobs: dict[str, bytes] = {}

    def put(data: bytes, media: str) -> dict[str, object]:
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(data)}

    rows = [put(layer, "application/vnd.oci.image.layer.v1.tar+gzip")]
    config = put(b"{}", "application/vnd.oci.image.config.v1+json")
    manifest = json.dumps({"config": config, "layers": rows}).encode()
    index = {"manifests": [put(manifest, "application/vnd.oci.image.manifest.v1+json")]}
    blobs["index.json"] = json.dumps(index).encode()
    blobs["oci-layout"] = b"{}"
    outer = io.BytesIO()
    with tarfile.open(fileobj=outer, mode="w") as archive:
        for name, data in blobs.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))
    return outer.getvalue()


class Subjects:
    """The sound inputs, and for each kind the call that must survive its damaged versions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = small_elf()
        self.universal = make_fat(make_mach(), make_mach(cpu=0x0100000C))
        members = {
            "tensorflow/a.so": self.library[:60_000],
            "tensorflow/python/platform/build_info.py": CPU_BUILD_INFO.encode(),
            "tensorflow/a.py": b"x = 1\n" * 30,
        }
        self.good = make_wheel(folder / "good", members)
        self.stored = make_wheel(folder / "stored", members, method=zipfile.ZIP_STORED)
        (folder / "input").mkdir()
        self.damaged = folder / "input" / self.good.name
        self.seeds: list[tuple[str, bytes, Callable[[bytes], None]]] = [
            ("wheel", self.good.read_bytes(), self.wheel),
            ("stored wheel", self.stored.read_bytes(), self.wheel),
            ("library", self.library, partial(self.native, self.library)),
            ("windows library", make_pe(), partial(self.native, make_pe())),
            ("macos library", self.universal, partial(self.native, self.universal)),
            ("declaration", DECLARATION, self.declaration),
            ("sbom", SBOM, self.sbom),
            ("gpu code", fat_section({35: b"x" * 40, 90: b"y" * 90}, {90: b"p" * 30}) * 3, self.gpu),
            ("image", small_image(), self.image),
            ("record", b"a/b.py,sha256=" + b"A" * 43 + b",12\nRECORD,,\n", self.record),
            ("build info", CPU_BUILD_INFO.encode(), self.build_info),
            ("envelope", b'{"payload":"e30=","payloadType":"x","signatures":[{"sig":"AA=="}]}', self.envelope),
        ]  # fmt: skip

    def wheel(self, data: bytes) -> None:
        self.damaged.write_bytes(data)
        for call in (
            lambda: inspect(self.damaged),
            lambda: audit(self.good, self.damaged),
            lambda: quick(self.damaged, self.good),
        ):
            with contextlib.suppress(TfenvError):
                call()

    def native(self, sound: bytes, data: bytes) -> None:
        with blob.of_bytes(data) as stream, contextlib.suppress(ValueError):
            library.read("x.so", stream)
            list(elf.symbols(stream, elf.parse(stream)))
        one = self.folder / "input" / "one"
        two = self.folder / "input" / "two"
        for folder, content in ((one, sound), (two, data)):
            folder.mkdir(exist_ok=True)
            (folder / "lib.so").write_bytes(content)
        with contextlib.suppress(TfenvError):
            audit(one, two)

    def gpu(self, data: bytes) -> None:
        with blob.of_bytes(data) as stream:
            fatbin.scan(stream, 0, len(data))

    def image(self, data: bytes) -> None:
        path = self.folder / "input" / "image.tar"
        path.write_bytes(data)
        with contextlib.suppress(TfenvError):
            tree = open_side(path)
            try:
                for _, chunks in tree.stream(lambda _: True):
                    for _ in chunks:
                        pass
            finally:
                tree.close()

    def record(self, data: bytes) -> None:
        import csv

        with contextlib.suppress(ValueError, csv.Error):
            contents.parse_record(data.decode("utf-8"))

    def build_info(self, data: bytes) -> None:
        with contextlib.suppress(ValueError):
            contents.build_info(data.decode("utf-8", "replace"))

    def declaration(self, data: bytes) -> None:
        path = self.folder / "input" / "declaration.toml"
        path.write_bytes(data)
        with contextlib.suppress(TfenvError):
            declared.load(path)

    def sbom(self, data: bytes) -> None:
        attest.sbom_problems(data, "ab")
        keyless.is_bundle(data)

    def envelope(self, data: bytes) -> None:
        with contextlib.suppress(TfenvError):
            dsse.open_sealed(data, [])


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    first = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 1_000_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subjects = Subjects(folder)
        sound = set(_listing(folder))
        end = time.monotonic() + seconds
        seed = first
        while time.monotonic() < end:
            chance = random.Random(seed)
            kind, data, call = chance.choice(subjects.seeds)
            started = time.monotonic()
            try:
                call(mutate(data, chance))
            except Exception as error:
                say(f"FAILED: seed {seed}, {kind}: {error!r}")
                raise
            if time.monotonic() - started > SLOW:
                say(f"FAILED: seed {seed}, {kind}: took {time.monotonic() - started:.0f} s")
                return 1
            seed += 1
        strange = {p for p in _listing(folder) if not p.startswith("input/")} - sound
        if strange:
            say(f"FAILED: written outside: {sorted(strange)[:5]}")
            return 1
    peak = _peak()
    say(f"fuzz wheels: {seed - first} inputs from seed {first}, peak memory {peak >> 10} MiB")
    return 1 if peak > MEMORY else 0


def _listing(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _peak() -> int:
    """Peak memory in kilobytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
