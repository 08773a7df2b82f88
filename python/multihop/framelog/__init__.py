"""Frame logs: every transmission of a run or a capture, as tables."""

from multihop.framelog.reading import FrameLog, frames, read

__all__ = ["FrameLog", "frames", "read"]
