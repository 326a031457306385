"""Add one library to a wheel, byte for byte reproducibly. Runs on Python 3.6 and newer.

    python repack.py RELEASED.whl LIBRARY PATH_IN_WHEEL DESTINATION

Entries that do not change are copied in their compressed form.
"""

import base64
import hashlib
import os
import struct
import sys
import time
import zipfile

TAG = "linux_x86_64"  # what setup.py writes: the build has not been checked against a policy


def main(released, library, path, destination):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
    stamp = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
    name, version, python, abi = os.path.basename(released)[: -len(".whl")].split("-")[:4]
    target = os.path.join(destination, "-".join([name, version, python, abi, TAG]) + ".whl")
    with open(library, "rb") as stream:
        added = {path: stream.read()}
    partial = target + ".partial"
    with zipfile.ZipFile(released) as old, zipfile.ZipFile(partial, "w") as new:
        info_folder = next(n for n in old.namelist() if n.endswith(".dist-info/WHEEL"))[: -len("WHEEL")]
        added[info_folder + "WHEEL"] = retagged(old.read(info_folder + "WHEEL").decode(), python, abi)
        record = info_folder + "RECORD"
        for info in old.infolist():
            if info.filename != record and info.filename not in added:
                copy(old, info, new)
        rows = [r for r in old.read(record).decode().splitlines() if not names(r, [record, *added])]
        rows += [row(n, data) for n, data in sorted(added.items())]
        added[record] = ("\n".join([*sorted(rows), record + ",,"]) + "\n").encode()
        for n, data in sorted(added.items()):
            entry = zipfile.ZipInfo(n, stamp)
            entry.external_attr = (0o755 if n.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)
    os.replace(partial, target)
    print(target)


def retagged(text, python, abi):
    lines = [line for line in text.splitlines() if line and not line.startswith("Tag:")]
    return ("\n".join([*lines, "Tag: %s-%s-%s" % (python, abi, TAG)]) + "\n").encode()


def names(line, paths):
    return any(line.startswith((path + ",", '"' + path + '",')) for path in paths)


def row(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return "%s,sha256=%s,%d" % (path, digest, len(data))


def copy(old, info, new):
    """Copy one entry without decompressing it."""
    old.fp.seek(info.header_offset)
    header = struct.unpack("<4s5H3L2H", old.fp.read(30))
    old.fp.seek(header[9] + header[10], os.SEEK_CUR)
    entry = zipfile.ZipInfo(info.filename, info.date_time)
    entry.external_attr = info.external_attr
    entry.compress_type = info.compress_type
    entry.CRC, entry.file_size, entry.compress_size = info.CRC, info.file_size, info.compress_size
    new.fp.seek(new.start_dir)
    entry.header_offset = new.fp.tell()
    new.fp.write(entry.FileHeader(zip64=False))
    left = info.compress_size
    while left:
        chunk = old.fp.read(min(left, 1 << 20))
        if not chunk:
            raise SystemExit("the released wheel ends early")
        new.fp.write(chunk)
        left -= len(chunk)
    new.start_dir = new.fp.tell()
    new.filelist.append(entry)
    new.NameToInfo[entry.filename] = entry
    new._didModify = True


if __name__ == "__main__":
    main(*sys.argv[1:])
