"""Writes small pcap files."""

import struct
from collections.abc import Iterable
from pathlib import Path


def write_pcap(path: Path, link_type: int, records: Iterable[tuple[int, bytes]]) -> Path:
    """Writes records of microseconds and bytes to a pcap file, and returns its path."""
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for at_us, packet in records:
        content += struct.pack("<IIII", *divmod(at_us, 1_000_000), len(packet), len(packet)) + packet
    path.write_bytes(content)
    return path
