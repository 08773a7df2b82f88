"""Sound files with something wrong in them; MULTIHOP_FUZZ_EXAMPLES says how many are drawn."""

import json
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

fuzzed = settings(
    max_examples=int(os.environ.get("MULTIHOP_FUZZ_EXAMPLES", "100")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)

_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [[], {}, [[]], {"a": {}}, 10**400, -0.0, 1e308, "\x00", "\ud800", "=1+1", "\x1b[2J", "nan", "1e999"]
    ),
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value within."""
    found = [path]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _places(inner, (*path, key))
    return found


def _replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    key, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = _replaced(copy[key], tuple(rest), by)
    return copy


@st.composite
def damaged(draw: st.DrawFn, sound: Any) -> bytes:
    """A sound file in which values, or bytes, are others."""
    if not isinstance(sound, str):
        for _ in range(draw(st.integers(0, 3))):
            sound = _replaced(sound, draw(st.sampled_from(_places(sound))), draw(_ODD))
        sound = json.dumps(sound)
    content = bytearray(sound.encode(errors="surrogatepass"))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        if draw(st.booleans()):
            content[at : at + draw(st.integers(0, 12))] = draw(st.binary(max_size=6))
        else:
            content[at : at + 1] = draw(
                st.sampled_from([b",", b";", b'"', b"\n", b"-", b"9", b"nan", b"\xff", b"{", b""])
            )
    return bytes(content)
