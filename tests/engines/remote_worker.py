"""A worker for Remote Execution: takes actions from BuildGrid by the Remote Workers API and runs them.

    python remote_worker.py HOST:PORT FOLDER

It runs in BuildGrid's own Python, whose protocol modules it uses. It knows what C++ and genrule
actions need: files in, files out. FOLDER/commands.txt gets a line per action that it ran.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc

_OK, _ACTIVE, _COMPLETED = 1, 2, 4  # BotStatus and LeaseState of the API
_POLL_SECONDS = 30
_SMALL = 1 << 20  # a message of gRPC holds 4 MiB by default


class Store:
    """The content-addressable storage, with what was read from it kept in a folder."""

    def __init__(self, channel: Any, folder: Path) -> None:
        self.small = re_grpc.ContentAddressableStorageStub(channel)
        self.large = bytestream_pb2_grpc.ByteStreamStub(channel)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, digest: Any) -> bytes:
        """A blob that is a message."""
        self.have([digest])
        return self.path(digest).read_bytes()

    def path(self, digest: Any, mode: int = 0o444) -> Path:
        """Where a blob that is there lies, with that mode."""
        place = self.folder / f"{digest.hash}-{mode:o}"
        plain = self.folder / f"{digest.hash}-444"
        if mode != 0o444 and not place.exists():
            shutil.copyfile(plain, place.with_suffix(f".{os.getpid()}"))
            place.with_suffix(f".{os.getpid()}").replace(place)
            place.chmod(mode)
        return place

    def have(self, digests: list[Any]) -> None:
        """Have all these blobs in the folder."""
        missing = {one.hash: one for one in digests if not self.path(one).exists()}
        batch: list[Any] = []
        for one in missing.values():
            if one.size_bytes > _SMALL:
                name = f"blobs/{one.hash}/{one.size_bytes}"
                parts = self.large.Read(bytestream_pb2.ReadRequest(resource_name=name))
                self._keep(one.hash, b"".join(part.data for part in parts))
                continue
            batch.append(one)
            if len(batch) == 200 or sum(each.size_bytes for each in batch) > _SMALL:
                self._read_batch(batch)
                batch = []
        if batch:
            self._read_batch(batch)

    def _read_batch(self, batch: list[Any]) -> None:
        answer = self.small.BatchReadBlobs(re.BatchReadBlobsRequest(digests=batch))
        for one in answer.responses:
            if one.status.code:
                raise RuntimeError(f"{one.digest.hash}: {one.status.message}")
            self._keep(one.digest.hash, one.data)

    def _keep(self, sha256: str, data: bytes) -> None:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise RuntimeError(f"{sha256} is another blob")
        place = self.folder / f"{sha256}-444"
        part = place.with_suffix(f".{os.getpid()}")
        part.write_bytes(data)
        part.replace(place)

    def write(self, path: Path) -> Any:
        """Store a file; its digest."""
        data = path.read_bytes()
        digest = re.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
        name = f"uploads/{uuid.uuid4()}/blobs/{digest.hash}/{len(data)}"

        def parts() -> Iterator[Any]:
            for at in range(0, max(len(data), 1), _SMALL):
                chunk = data[at : at + _SMALL]
                yield bytestream_pb2.WriteRequest(
                    resource_name=name,
                    write_offset=at,
                    data=chunk,
                    finish_write=at + len(chunk) == len(data),
                )

        self.large.Write(parts())
        return digest


class Worker:
    """One session with the server; one action at a time."""

    def __init__(self, address: str, folder: Path) -> None:
        channel = grpc.insecure_channel(address)
        self.bots = bots_pb2_grpc.BotsStub(channel)
        self.store = Store(channel, folder / "blobs")
        self.folder = folder

    def serve(self) -> None:
        session = bots_pb2.BotSession(bot_id=f"worker-{os.getpid()}", status=_OK)
        request = bots_pb2.CreateBotSessionRequest(parent="", bot_session=session)
        session = self.bots.CreateBotSession(request, timeout=_POLL_SECONDS)
        while True:
            for lease in session.leases:
                if lease.state == _ACTIVE:
                    self.work(lease)
            request = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
            session = self.bots.UpdateBotSession(request, timeout=_POLL_SECONDS)

    def work(self, lease: Any) -> None:
        """Run a lease's action and put its result into the lease."""
        try:
            lease.result.Pack(self.run(self.action(lease.payload)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the server has to hear of it
            lease.status.code = grpc.StatusCode.INTERNAL.value[0]
            lease.status.message = str(error)
        lease.state = _COMPLETED

    def action(self, payload: Any) -> Any:
        """The action, which a lease holds itself or by digest."""
        action, digest = re.Action(), re.Digest()
        if payload.Unpack(digest):
            action.ParseFromString(self.store.read(digest))
        else:
            payload.Unpack(action)
        return action

    def run(self, action: Any) -> Any:
        command = re.Command.FromString(self.store.read(action.command_digest))
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            root = Path(name)
            self.lay_out(action.input_root_digest, root)
            home = root / command.working_directory
            outputs = [*command.output_paths] or [*command.output_files]
            for output in outputs:
                (home / output).parent.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(
                list(command.arguments),
                cwd=home,
                env={one.name: one.value for one in command.environment_variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            result = re.ActionResult(
                exit_code=done.returncode, stdout_raw=done.stdout, stderr_raw=done.stderr
            )
            for output in outputs:
                path = home / output
                if path.is_file():
                    result.output_files.add(
                        path=output,
                        digest=self.store.write(path),
                        is_executable=os.access(path, os.X_OK),
                    )
        with (self.folder / "commands.txt").open("a", encoding="utf-8") as stream:
            stream.write(f"{command.arguments[0]} -> {', '.join(outputs)}\n")
        return result

    def lay_out(self, digest: Any, folder: Path) -> None:
        """The files of a directory of the storage, as links into the kept blobs."""
        folder.mkdir(parents=True, exist_ok=True)
        directory = re.Directory.FromString(self.store.read(digest))
        self.store.have([one.digest for one in directory.files])
        for one in directory.files:
            os.link(
                self.store.path(one.digest, 0o555 if one.is_executable else 0o444),
                folder / one.name,
            )
        for link in directory.symlinks:
            (folder / link.name).symlink_to(link.target)
        for child in directory.directories:
            self.lay_out(child.digest, folder / child.name)


if __name__ == "__main__":
    Worker(sys.argv[1], Path(sys.argv[2])).serve()
