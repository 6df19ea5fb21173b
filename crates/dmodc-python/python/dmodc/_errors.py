"""The exceptions of this package. The extension module raises them by name."""

from __future__ import annotations

import os


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

    def __reduce__(self) -> tuple[type[ReadError], tuple[str, str, int, int, str | None]]:
        return ReadError, (str(self), self.file, self.line, self.column, self.text)


class FileError(DmodcError, OSError):
    """A file cannot be opened, read or written. ``errno`` says why."""

    def __init__(self, errno: int, message: str, filename: str | None = None) -> None:
        super().__init__(errno, os.strerror(errno) if errno else message, filename)
        #: What could not be done, and why.
        self.message = message

    def __reduce__(self) -> tuple[type[FileError], tuple[int, str, str | None]]:
        return FileError, (self.errno or 0, self.message, self.filename)

    def __str__(self) -> str:
        return self.message


class RouteError(DmodcError):
    """An engine cannot route the fabric."""


class EngineError(RouteError):
    """An engine that is a Python function returned something wrong."""
