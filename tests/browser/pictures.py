"""White pictures, for tests of how pages show figures."""

import base64
import struct
import zlib


def white_png(width: int, height: int) -> str:
    """Return a white PNG in base64.

    Args:
        width: pixels.
        height: pixels.
    """

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = (b"\0" + b"\xff" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    made = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(made).decode()
