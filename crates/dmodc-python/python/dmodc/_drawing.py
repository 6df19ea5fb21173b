"""A small drawing of a fabric as SVG: a row of circles for each level, a line for each pair of connected switches."""

from __future__ import annotations

from collections import Counter
from ._html import escape

WIDTH = 720
ROW = 90
MARGIN = 40
#: With more switches or pairs than this, a level is drawn as one box, and cables between levels as one line.
MOST_SWITCHES = 400
MOST_PAIRS = 1000


def svg(
    switches: list[tuple[str, str, int, int, int | None, bool]],
    cables: list[tuple[str, int, str, int, str]],
    hosts: Counter[str],
) -> str:
    """Returns the drawing. ``hosts`` counts the nodes of each switch."""
    levels: dict[int, list[str]] = {}
    names: dict[str, str] = {}
    for guid, name, _, _, level, _ in switches:
        levels.setdefault(level or 0, []).append(guid)
        names[guid] = name
    pairs = Counter((a, b) for a, _, b, _, _ in cables)
    if len(switches) > MOST_SWITCHES or len(pairs) > MOST_PAIRS:
        return _by_level(levels, pairs)
    height = MARGIN * 2 + ROW * max(len(levels) - 1, 0)
    place: dict[str, tuple[float, float]] = {}
    for at, level in enumerate(sorted(levels, reverse=True)):
        row = levels[level]
        step = (WIDTH - 2 * MARGIN) / len(row)
        for i, guid in enumerate(row):
            place[guid] = (MARGIN + step * (i + 0.5), MARGIN + ROW * at)
    radius = max(2.0, min(9.0, 0.35 * WIDTH / max((len(row) for row in levels.values()), default=1)))
    lines = []
    for (a, b), count in pairs.items():
        (x1, y1), (x2, y2) = place[a], place[b]
        lines.append(
            f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='#888' stroke-opacity='0.6' "
            f"stroke-width='{min(0.6 * count, 4):.1f}'/>"
        )
    for guid, (x, y) in place.items():
        title = f"{names[guid]} ({guid})" + (f", {hosts[guid]} nodes" if hosts[guid] else "")
        colour = "#2a6fbb" if hosts[guid] else "#666"
        lines.append(
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius:.1f}' fill='{colour}'><title>{escape(title)}</title></circle>"
        )
    return _frame(height, lines)


def _by_level(levels: dict[int, list[str]], pairs: Counter[tuple[str, str]]) -> str:
    level_of = {guid: level for level, row in levels.items() for guid in row}
    between: Counter[tuple[int, int]] = Counter()
    for (a, b), count in pairs.items():
        low, high = sorted((level_of[a], level_of[b]))
        between[low, high] += count
    most = max((len(row) for row in levels.values()), default=1)
    lines, centre = [], {}
    for at, level in enumerate(sorted(levels, reverse=True)):
        count = len(levels[level])
        width, y = max(80.0, (WIDTH - 2 * MARGIN) * count / most), MARGIN + ROW * at
        centre[level] = y
        lines.append(
            f"<rect x='{(WIDTH - width) / 2:.1f}' y='{y - 14}' width='{width:.1f}' height='28' rx='4' fill='#2a6fbb'/>"
            f"<text x='{WIDTH / 2}' y='{y + 5}' fill='white' text-anchor='middle' font-size='13'>{count:,} switches</text>"
        )
    for (low, high), count in between.items():
        y1, y2 = centre[high], centre[low]
        lines.append(
            f"<line x1='{WIDTH / 2}' y1='{y1 + 14}' x2='{WIDTH / 2}' y2='{y2 - 14}' stroke='#888'/>"
            f"<text x='{WIDTH / 2 + 8}' y='{(y1 + y2) / 2 + 4:.1f}' font-size='12' fill='#888'>{count:,} cables</text>"
        )
    return _frame(MARGIN * 2 + ROW * max(len(levels) - 1, 0), lines)


def _frame(height: int, lines: list[str]) -> str:
    body = "".join(lines)
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' "
        f"font-family='sans-serif'>{body}</svg>"
    )
