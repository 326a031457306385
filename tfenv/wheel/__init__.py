"""What a wheel is: its members, tags, native libraries, ABI, GPU code and CPU floor.

Nothing here runs or imports what it reads, and nothing is unpacked to disk under a name that the
wheel chose. Every function takes hostile input: it returns, or raises `BadWheelError`.
"""
