"""`tfenv attest`: write an SBOM and a signed provenance beside a wheel, and check them offline."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tfenv import files
from tfenv.audit import dsse, keyless, provenance, sbom
from tfenv.audit.provenance import Run
from tfenv.audit.sbom import Subject
from tfenv.errors import BadWheelError, FileFormatError
from tfenv.lock import store
from tfenv.lock.model import Lock
from tfenv.wheel import contents, rewrite
from tfenv.wheel.archive import ZipTree


class Paths(NamedTuple):
    """Where the two documents of a wheel lie."""

    sbom: Path
    provenance: Path


class Problem(msgspec.Struct, frozen=True):
    """One thing that does not hold."""

    document: str
    detail: str


def paths(wheel: Path, folder: Path | None = None) -> Paths:
    """Beside the wheel, or in `folder`, under the wheel's name."""
    base = (folder or wheel.parent) / wheel.name
    return Paths(
        base.with_name(f"{base.name}.cdx.json"), base.with_name(f"{base.name}.provenance.json")
    )


def subject_of(wheel: Path) -> Subject:
    """What a wheel calls itself, and its hash.

    Raises:
        BadWheelError: it is no wheel.
    """
    tree = ZipTree(wheel)
    try:
        about = contents.metadata(tree)
    finally:
        tree.close()
    if about is None:
        raise BadWheelError(
            f"{wheel.name} is no wheel", "it has no METADATA", "give the wheel that was built"
        )
    return Subject(wheel.name, files.sha256_file(wheel), about.name, about.version)


_RECORD = "build.json"


class _Product(msgspec.Struct):
    sha256: str
    name: str = ""


class _Built(msgspec.Struct):
    """What is read of the `build.json` that `tfenv build` leaves beside its products."""

    engine: str
    inputs: str
    source: str
    products: list[_Product]
    run: str = ""


def read_run(wheel: Path, digest: str, folder: Path | None = None) -> Run:
    """The build that made a wheel, by the record beside it or in `folder`.

    A wheel without a record has an unknown builder, and its provenance says so.

    Raises:
        FileFormatError: `folder` was given and holds no record of this wheel.
    """
    place = folder or wheel.parent
    built = _built(place, digest)
    if built is None:
        if folder is None:
            return Run()
        raise FileFormatError(
            f"{folder.name} does not say how the wheel was built",
            f"it has no {_RECORD}, or one about other files than {wheel.name}",
            "give the folder of the build",
        )
    started, finished = _times(Path(built.run) / "events.jsonl") if built.run else ("", "")
    return Run(
        id=Path(built.run).name,
        engine=built.engine,
        started=started,
        finished=finished,
        inputs=built.inputs,
        source=built.source,
        cpu_features=_features(place, built.products),
    )


def read_lock(wheel: Path, digest: str, folder: Path | None = None) -> Lock | None:
    """The lock that the build left beside the wheel, with the archives that Bazel was given.

    None where the build's record does not vouch for both, the wheel and the lock.
    """
    place = folder or wheel.parent
    built = _built(place, digest)
    if built is None:
        return None
    named = [p.name for p in built.products if p.name.endswith(".lock.toml")]
    path = place / Path(named[0]).name if len(named) == 1 else None
    if path is None or _vouched(path, built.products) is None:
        return None
    return store.load(path)


def _built(place: Path, digest: str) -> _Built | None:
    """A folder's record of a build, if it is about the file with that hash."""
    try:
        built = msgspec.json.decode((place / _RECORD).read_bytes(), type=_Built)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None
    return built if digest in {product.sha256 for product in built.products} else None


def _features(folder: Path, products: list[_Product]) -> list[str]:
    """What `--march` meant on the machine that built, if the record vouches for the file."""
    data = _vouched(folder / "cpu-features.txt", products) or b""
    return [name for name in data.decode("ascii", "replace").split() if name.isprintable()][:200]


def _vouched(path: Path, products: list[_Product]) -> bytes | None:
    """The content of a product, if it is what the record says."""
    known = {product.sha256 for product in products if product.name == path.name}
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data if files.sha256_bytes(data) in known else None


def _times(journal: Path) -> tuple[str, str]:
    """Times of a run's first and last event; empty where they are not to be had."""
    try:
        lines = journal.read_text("utf-8").splitlines()
        first, last = (str(msgspec.json.decode(line)["time"]) for line in (lines[0], lines[-1]))
    except (OSError, UnicodeDecodeError, IndexError, KeyError, TypeError, msgspec.MsgspecError):
        return "", ""
    return first, last


def embed(wheel: Path, lock: Lock, folder: Path) -> Path:
    """Write the wheel to `folder` with its SBOM inside (PEP 770: `.dist-info/sboms/`).

    Raises:
        BadWheelError: it is no wheel, or has one from tfenv already.
    """
    document = sbom.make(subject_of(wheel)._replace(sha256=""), lock)
    out = folder / wheel.name
    if out.exists() and out.samefile(wheel):
        raise FileFormatError(
            f"{wheel.name} cannot be written over itself", "-o is its own folder", "give another -o"
        )
    rewrite.add_member(wheel, out, "sboms/tfenv.cdx.json", document.encode())
    return out


def write(
    wheel: Path,
    lock: Lock,
    key: Path | None,
    folder: Path | None = None,
    run: Run | None = None,
    trust_config: Path | None = None,
) -> Paths:
    """Write both documents.

    Args:
        wheel: what they are about.
        lock: what it was built from.
        key: signs; None: Sigstore does, with the identity of the surroundings.
        folder: takes the documents; default: the wheel's own.
        run: the build, read from the wheel's own folder if not given.
        trust_config: of another Sigstore than the public one.

    Raises:
        BadWheelError, FileFormatError, MissingExtraError: wheel, key or extra is not usable.
        MissingToolError, DownloadError: Sigstore has no identity, or did not sign.
    """
    where = paths(wheel, folder)
    subject = subject_of(wheel)
    run = run or read_run(wheel, subject.sha256)
    document = sbom.make(subject, lock)
    made = provenance.statement(subject, lock, run, document, where.sbom.name)
    payload = msgspec.json.encode(made)
    sealed = dsse.seal(payload, key) if key else keyless.seal(payload, trust_config)
    files.write_text(where.sbom, document)
    files.write_text(where.provenance, sealed)
    return where


def verify(
    wheel: Path,
    keys: list[Path],
    folder: Path | None = None,
    signer: keyless.Signer | None = None,
) -> list[Problem]:
    """Everything in which wheel, SBOM, provenance and signatures do not belong together. Offline.

    Args:
        wheel: what the documents are about.
        keys: public keys, one of which must have signed.
        folder: of the documents; default: the wheel's own.
        signer: who must have signed where Sigstore did.

    Raises:
        FileFormatError, MissingExtraError: a key or the extra is not usable.
    """
    where = paths(wheel, folder)
    found: list[Problem] = []
    digest = files.sha256_file(wheel)
    document = _read(where.sbom, "sbom", found)
    if document is not None:
        found += sbom_problems(document, digest)
    sealed = _read(where.provenance, "provenance", found)
    if sealed is not None:
        try:
            statement = _opened(sealed, keys, signer)
        except BadWheelError as error:
            found.append(Problem("provenance", f"{error.what}: {error.why}"))
        else:
            found += _statement_problems(statement, wheel.name, digest, document)
    return found


def _opened(sealed: bytes, keys: list[Path], signer: keyless.Signer | None) -> dict[str, Any]:
    if not keyless.is_bundle(sealed):
        return dsse.open_sealed(sealed, keys)
    if signer is None:
        raise BadWheelError(
            "the provenance is signed by Sigstore",
            "nobody says whose signature is wanted",
            "give identity and issuer",
        )
    return keyless.open_bundle(sealed, signer)


def _read(path: Path, name: str, found: list[Problem]) -> bytes | None:
    try:
        if path.stat().st_size > dsse.MAX_ENVELOPE:
            found.append(Problem(name, f"{path.name} is larger than any real one"))
            return None
        return path.read_bytes()
    except OSError:
        found.append(Problem(name, f"{path.name} is missing: `tfenv attest` writes it"))
        return None


def sbom_problems(document: bytes, digest: str) -> list[Problem]:
    """Whether an SBOM names the wheel."""
    try:
        bom = msgspec.json.decode(document)
        hashes = bom["metadata"]["component"]["hashes"]
        named = {entry["content"] for entry in hashes if entry["alg"] == "SHA-256"}
    except (msgspec.MsgspecError, RecursionError, KeyError, TypeError) as error:
        return [Problem("sbom", f"it is damaged: {error}")]
    return [] if named == {digest} else [Problem("sbom", "it is about another wheel")]


def schema_fault(document: str) -> str:
    """The first violation of CycloneDX 1.6's schema; empty if there is none or no validator."""
    try:
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator

        fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(document)
    except ImportError:
        return ""
    except (ValueError, RecursionError) as error:
        return f"it is no JSON: {error}"[:200]
    return "" if fault is None else str(fault).splitlines()[0][:200]


def _statement_problems(
    statement: dict[str, Any], file: str, digest: str, document: bytes | None
) -> list[Problem]:
    try:
        subjects = {s["name"]: s["digest"]["sha256"] for s in statement["subject"]}
        run = statement["predicate"]["runDetails"]
        products = {p["digest"]["sha256"] for p in run["byproducts"]}
        kinds = (statement["_type"], statement["predicateType"])
    except (KeyError, TypeError) as error:
        return [Problem("provenance", f"it is damaged: {error!r} is missing")]
    found: list[Problem] = []
    if kinds != (provenance.STATEMENT, provenance.PREDICATE):
        found.append(Problem("provenance", "it is no SLSA provenance v1"))
    if subjects.get(file) != digest:
        found.append(Problem("provenance", f"it is about another wheel than {file}"))
    if document is not None and hashlib.sha256(document).hexdigest() not in products:
        found.append(Problem("provenance", "it was signed with another SBOM"))
    return found
