"""Small HTML tables for notebooks. Everything that comes from files is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def escape(text: str) -> str:
    """Returns a text in which nothing is markup."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(sign, name)
    return text


def table(heading: str, rows: Iterable[tuple[str, object]]) -> str:
    """Returns names and values as a table."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:right'>{escape(value(of))}</td></tr>"
        for name, of in rows
    )
    return f"<table><caption style='text-align:left'>{escape(heading)}</caption>{lines}</table>"


def grid(heading: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns rows with several columns as a table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(value(of))}</td>" for of in row) + "</tr>" for row in rows)
    return f"<table><caption style='text-align:left'>{escape(heading)}</caption><tr>{head}</tr>{lines}</table>"


def value(of: object) -> str:
    """Returns a value for people."""
    if of is None:
        return "–"
    if isinstance(of, bool):
        return "yes" if of else "no"
    if isinstance(of, int):
        return f"{of:,}"
    if isinstance(of, float):
        return f"{of:,.2f}"
    return str(of)
