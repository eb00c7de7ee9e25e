"""What has been built or run before is known by a hash of all that went into it."""

import hashlib
import pathlib


def hash_of(*parts):
    """Of texts, and of what stands in files and in folders below folders."""
    total = hashlib.sha256()
    for part in parts:
        if not isinstance(part, pathlib.Path) or not part.exists():
            total.update(str(part).encode() + b"\0")
            continue
        files = sorted(file for file in part.rglob("*") if file.is_file()) if part.is_dir() else [part]
        for file in files:
            if file.parent.name != "__pycache__":
                total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()[:24]
