"""Latitude and longitude in the forms of mesh files."""

from __future__ import annotations

import math
from typing import Any

from multihop.importers.parsing.records import number

EARTH_RADIUS_M = 6_371_000.0

_LATITUDES = ("lat", "latitude")
_LONGITUDES = ("lng", "lon", "long", "longitude")

Coordinates = tuple[float | None, float | None]


def coordinates(*places: Any) -> Coordinates:  # noqa: ANN401 - any JSON values
    """Returns latitude and longitude of the first of these values with both.

    A value may be an object with `lat` (`latitude`) and `lng` (`lon`, `long`, `longitude`), an object that
    holds such a place as `location` or `geometry`, a GeoJSON Point, or its list `[longitude, latitude]`.
    Returns `(None, None)` if none of the values has a position.
    """
    found = [pair for place in places if (pair := _of_one(place)) != (None, None)]
    # An incomplete position is returned, so that it is counted as such.
    return next((pair for pair in found if None not in pair), found[0] if found else (None, None))


def _of_one(place: Any) -> Coordinates:  # noqa: ANN401 - any JSON value
    if isinstance(place, list):
        return (number(place[1]), number(place[0])) if len(place) >= 2 else (None, None)
    if not isinstance(place, dict):
        return None, None
    found = _first_number(place, _LATITUDES), _first_number(place, _LONGITUDES)
    if found != (None, None):
        return found
    for key in ("location", "geometry", "coordinates"):
        inner = place.get(key)
        # Two levels suffice: a location with a geometry, which has coordinates.
        if isinstance(inner, list):
            return _of_one(inner)
        if isinstance(inner, dict):
            found = _first_number(inner, _LATITUDES), _first_number(inner, _LONGITUDES)
            points = [inner, inner.get("geometry")]
            lists = [point["coordinates"] for point in points if isinstance(point, dict) and "coordinates" in point]
            return found if found != (None, None) else _of_one(lists[0]) if lists else (None, None)
    return None, None


def _first_number(place: dict[str, Any], keys: tuple[str, ...]) -> float | None:
    return next((value for key in keys if (value := number(place.get(key))) is not None), None)


def distance_m(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Great-circle distance of two positions, each latitude and longitude in degrees (haversine formula)."""
    (lat_a, lon_a), (lat_b, lon_b) = ((math.radians(x), math.radians(y)) for x, y in (a, b))
    half = math.sin((lat_b - lat_a) / 2) ** 2 + math.cos(lat_a) * math.cos(lat_b) * math.sin((lon_b - lon_a) / 2) ** 2
    return 2.0 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(half)))
