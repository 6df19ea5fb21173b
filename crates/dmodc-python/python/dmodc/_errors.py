"""The exceptions of this package. The extension module raises them by name."""

from __future__ import annotations


class DmodcError(Exception):
    """The base of all errors of this package."""


class DmodcWarning(UserWarning):
    """A file has damaged lines, which were left out."""


class InputError(DmodcError, ValueError):
    """Something that was asked for is not possible: a name, a number, a pattern."""


class ReadError(InputError):
    """A file or text cannot be read."""

    def __init__(self, message: str, file: str, line: int, column: int, text: str | None) -> None:
        super().__init__(message)
        #: The name of the file.
        self.file = file
        #: The line, from 1.
        self.line = line
        #: The column in bytes, from 1.
        self.column = column
        #: The line with a caret below the place, if there is something to show.
        self.text = text


class FileError(DmodcError, OSError):
    """A file cannot be opened, read or written. ``errno`` says why."""

    def __init__(self, errno: int, message: str) -> None:
        super().__init__(errno, message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class RouteError(DmodcError):
    """An engine cannot route the fabric."""


class EngineError(RouteError):
    """An engine that is a Python function returned something wrong."""
