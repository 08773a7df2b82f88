"""Frame logs: every transmission of a run or a capture, as tables."""

from multihop.framelog.captured import CapturedLog, capture_frames
from multihop.framelog.reading import FrameLog, frames, read

__all__ = ["CapturedLog", "FrameLog", "capture_frames", "frames", "read"]
