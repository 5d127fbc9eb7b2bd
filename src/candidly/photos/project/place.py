"""Where a project file lies by default, and where it cannot lie."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

NAME = "photos.candidly"

# File systems that reach over a network or into another machine: their locks and shared memory
# are not those of this one.
NETWORK = {
    "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "fuse.ceph", "fuse.davfs2",
    "fuse.glusterfs", "fuse.gvfsd-fuse", "fuse.rclone", "fuse.s3fs", "fuse.smbnetfs",
    "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3",
    "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip


def default_project() -> Path:
    """The project file where none is named: in the user's data folder.

    Examples
    --------
    >>> default_project().name
    'photos.candidly'
    """
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "Candidly"
    elif sys.platform == "darwin":
        folder = home / "Library" / "Application Support" / "Candidly"
    else:
        # The convention says that a relative XDG_DATA_HOME is to be ignored.
        data = Path(os.environ.get("XDG_DATA_HOME", ""))
        folder = (data if data.is_absolute() else home / ".local" / "share") / "candidly"
    return folder / NAME


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """The kind of network file system that a path is on, or None.

    Parameters
    ----------
    path : Path
        Need not exist.
    mounts : str or None
        What /proc/mounts says; None reads it. Where there is none, only Windows' names of
        servers are recognised.

    Examples
    --------
    >>> network_file_system(Path("/media/nas/a.candidly"), "server:/x /media/nas nfs4 rw 0 0")
    'nfs4'
    """
    path = Path(os.path.realpath(path))
    if os.fspath(path).startswith("\\\\"):
        return "a Windows share"
    if mounts is None:
        try:
            mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return None
    longest, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_unescaped(fields[1]))
        # Of several mounts at one place the last covers the others.
        if path.is_relative_to(point) and len(point.parts) >= longest:
            longest, kind = len(point.parts), fields[2]
    return kind if kind in NETWORK else None


def _unescaped(text: str) -> str:
    """A mount point, in which the kernel writes a space as a backslash and 040."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
