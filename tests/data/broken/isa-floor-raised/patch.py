"""What a library compiled with -mavx2 does where there is none: the first such instruction."""

import ctypes
import mmap
import platform


def apply(tf):
    if platform.machine() != "x86_64":
        return
    # vpaddd ymm0, ymm0, ymm0; ret
    code = b"\xc5\xfd\xfe\xc0\xc3"
    page = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(None)(address)()
    PAGES.append(page)


PAGES = []
