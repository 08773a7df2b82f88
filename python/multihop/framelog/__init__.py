"""Frame logs: every transmission of a run or a capture, as tables."""

from multihop.framelog.captured import CapturedLog, capture_frames
from multihop.framelog.reading import FrameLog, Packed, frames, packed, read

__all__ = ["CapturedLog", "FrameLog", "Packed", "capture_frames", "frames", "packed", "read"]
