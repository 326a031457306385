"""`cuda-pairs.toml`: the CUDA and cuDNN that a new release's own wheel says it was built with.

Only where the minor has no tested configuration, and the toolkit and a cuDNN can be fetched.
"""

from __future__ import annotations

from tfenv.facts import schema
from tfenv.facts.update.index import Index
from tfenv.facts.update.model import Change, Outcome, Tables, rows
from tfenv.facts.versions import minor as minor_of


def update(tables: Tables, index: Index) -> Outcome:
    """Pairs of the minors that nothing else names a CUDA for."""
    del index  # all of it was read for build-info.toml
    old = rows(tables, schema.CudaPair)
    known = {minor_of(row.version) for row in rows(tables, schema.Tested) if row.cuda}
    known |= {row.versions.removeprefix("==").removesuffix(".*") for row in old}
    new: dict[str, schema.CudaPair] = {}
    said = []
    for row in rows(tables, schema.BuildInfo):
        minor = minor_of(row.version)
        if not (row.cuda and row.cudnn) or row.platform != "linux-x86_64" or minor in known:
            continue
        if missing := _missing(tables, row):
            said.append(f"{row.version} needs {missing}")
            continue
        new[minor] = _pair(minor, row)
    changes = tuple(Change("new", f"{row.versions} {row.cuda} {row.cudnn}") for row in new.values())
    return Outcome((*old, *new.values()), changes, "; ".join(said))


def _missing(tables: Tables, row: schema.BuildInfo) -> str:
    cuda = minor_of(row.cuda)
    toolkits = rows(tables, schema.CudaToolkit)
    if not any(minor_of(t.version) == cuda and t.platform == row.platform for t in toolkits):
        return f"CUDA {cuda} in cuda.toml"
    if not any(arch.cuda == cuda for arch in rows(tables, schema.CudaArch)):
        return f"CUDA {cuda} in cuda-arch.toml"
    archives = rows(tables, schema.CudnnArchive)
    if not any(f"{a.version}.".startswith(f"{row.cudnn}.") for a in archives):
        return f"cuDNN {row.cudnn} in cudnn.toml"
    return ""


def _pair(minor: str, row: schema.BuildInfo) -> schema.CudaPair:
    return schema.CudaPair(
        versions=f"=={minor}.*",
        cuda=minor_of(row.cuda),
        cudnn=row.cudnn,
        reason=f"the released wheel of {row.distribution} {row.version} says that it was built "
        f"with CUDA {row.cuda} and cuDNN {row.cudnn}",
        platforms=[row.platform],
        source=row.source,
        note="no tested configuration of this minor was read yet",
    )
