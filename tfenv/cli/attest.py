"""`tfenv attest`: an SBOM and a provenance for a wheel, written or verified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tfenv.cli import _output

if TYPE_CHECKING:
    from tfenv.audit.keyless import Signer
    from tfenv.lock.model import Lock


@click.command("attest")
@click.argument("wheel", type=click.Path(path_type=Path))
@click.option(
    "--target",
    default="",
    help="The target whose shipped lock the wheel was built from; default: the lock that `tfenv "
    "build` left beside the wheel, which has Bazel's external archives too.",
)
@click.option("--lock", "lock_file", type=click.Path(path_type=Path), help="Or the lock's file.")
@click.option(
    "--built",
    type=click.Path(path_type=Path),
    help="The folder with the build's build.json; default: the wheel's own.",
)
@click.option(
    "--key",
    "keys",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A PEM key: private to sign, public to verify (then several may be given). Without one "
    "Sigstore signs, with the identity of the CI job.",
)
@click.option("--identity", default="", help="To verify: who must have signed by Sigstore.")
@click.option("--issuer", default="", help="To verify: the provider that vouches for --identity.")
@click.option(
    "--trust-config",
    type=click.Path(path_type=Path),
    help="Sigstore's client trust configuration, for an instance of your own.",
)
@click.option("-o", "folder", type=click.Path(path_type=Path), help="Where the documents lie.")
@click.option("--embed", is_flag=True, help="Put an SBOM into a copy of the wheel in -o first.")
@click.option("--verify", is_flag=True, help="Check the documents; offline, writes nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    wheel: Path,
    target: str,
    lock_file: Path | None,
    built: Path | None,
    keys: tuple[Path, ...],
    identity: str,
    issuer: str,
    trust_config: Path | None,
    folder: Path | None,
    embed: bool,
    verify: bool,
    as_json: bool,
) -> None:
    """Write WHEEL.cdx.json (CycloneDX) and WHEEL.provenance.json (SLSA, signed), or verify them."""
    from tfenv import files
    from tfenv.audit import attest

    if verify:
        signer = _signer(identity, issuer, trust_config)
        if not keys and signer is None:
            raise click.UsageError("give --key, or --identity and --issuer: who must have signed")
        problems = attest.verify(wheel, list(keys), folder, signer)
        if as_json:
            _output.json({"wheel": wheel.name, "ok": not problems, "problems": problems})
        elif problems:
            click.echo("\n".join(f"{p.document}: {p.detail}" for p in problems))
        else:
            click.echo(f"{wheel.name}: SBOM and provenance are there, signed, and about this wheel")
        if problems:
            click.get_current_context().exit(1)
        return
    if len(keys) > 1:
        raise click.UsageError("sign with one --key")
    digest = files.sha256_file(wheel)
    run = attest.read_run(wheel, digest, built)
    beside = attest.read_lock(wheel, digest, built) if lock_file is None else None
    if beside is not None and target in ("", beside.target):
        lock = beside
    else:
        lock = _lock(target, lock_file)
    if embed:
        if folder is None:
            raise click.UsageError("--embed writes another wheel: give -o FOLDER")
        wheel = attest.embed(wheel, lock, folder)
    where = attest.write(wheel, lock, next(iter(keys), None), folder, run, trust_config)
    if as_json:
        _output.json({"sbom": str(where.sbom), "provenance": str(where.provenance)})
    else:
        click.echo(f"{where.sbom}\n{where.provenance}")


def _signer(identity: str, issuer: str, config: Path | None) -> Signer | None:
    from tfenv.audit.keyless import Signer

    if bool(identity) != bool(issuer):
        raise click.UsageError("--identity and --issuer belong together")
    return Signer(identity, issuer, config) if identity else None


def _lock(target: str, file: Path | None) -> Lock:
    from tfenv.lock import store

    if file is not None:
        return store.load(file)
    if not target:
        raise click.UsageError("give --target or --lock: the inputs of the build")
    found = store.shipped(target)
    if found is None:
        raise click.UsageError(f"no lock ships for {target[:60]}: give --lock FILE")
    return found
