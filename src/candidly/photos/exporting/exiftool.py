"""ExifTool in one process: XMP packets put into copies of pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Self

PROGRAM = "exiftool"
PACKAGE = "on Debian the package libimage-exiftool-perl, with Homebrew exiftool"


class ExifToolProblem(Exception):  # noqa: N818  like PictureProblem
    """A picture that ExifTool could not write; the message says why."""


def has_exiftool() -> bool:
    """Return whether ExifTool is installed."""
    return shutil.which(PROGRAM) is not None


class ExifTool:
    """A running ExifTool, as a context manager; it starts with the first picture."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="candidly-")
        return self

    def __exit__(self, *problem: object) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            try:
                process.stdin.write(b"-stay_open\nFalse\n")
                process.stdin.flush()
                process.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        self._folder.cleanup()

    def embed(self, picture: Path, packet: bytes) -> bytes:
        """Return a picture with an XMP packet in place of its own; its file is only read.

        Raises
        ------
        ExifToolProblem
            Where it could not be done.
        """
        path = os.fsencode(picture)
        if b"\n" in path:
            raise ExifToolProblem("ExifTool takes no file name with a line break")
        given = Path(self._folder.name, "packet.xmp")
        given.write_bytes(packet)
        process = self._running()
        self._count += 1
        end = f"{{ready{self._count}}}"
        lines = ["-q", "-o", "-", f"-xmp<={given}", "-echo4", end]
        asked = "\n".join(lines).encode() + b"\n" + path + f"\n-execute{self._count}\n".encode()
        try:
            into, made_by, said_by = process.stdin, process.stdout, process.stderr
            assert into is not None
            into.write(asked)
            into.flush()
            made = _until(made_by, end.encode() + b"\n")
            said = _until(said_by, end.encode() + b"\n").decode("utf-8", "replace").strip()
        except OSError as error:
            self._process = None
            raise ExifToolProblem(f"ExifTool ended unexpectedly ({error})") from error
        if not made or "Error:" in said:
            raise ExifToolProblem(said.removeprefix("Error: ") or "ExifTool wrote nothing")
        return made

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [PROGRAM, "-stay_open", "True", "-@", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        return self._process


def _until(stream: IO[bytes] | None, end: bytes) -> bytes:
    """Return what a stream has up to a mark at its end."""
    parts = bytearray()
    while not parts.endswith(end):
        part = stream.read1(2**20)  # type: ignore[union-attr]
        if not part:
            raise OSError("its output ended")
        parts += part
    return bytes(parts[: -len(end)])
