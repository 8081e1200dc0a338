"""Model files changed as somebody hostile would."""

from __future__ import annotations

import hashlib
import json
import zipfile


def rewritten(path, change, sealed=True):
    """Change the parts of a file; its checksums are made again, as somebody hostile would."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    if sealed:
        sums = [f"{hashlib.sha256(parts[name]).hexdigest()}  {name}\n" for name in parts if name != "SHA256SUMS"]
        parts["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def in_manifest(path, change):
    """Change the manifest; ``change`` is new values, or a function that changes it."""

    def edit(parts):
        manifest = json.loads(parts["manifest.json"])
        manifest.update(change) if isinstance(change, dict) else change(manifest)
        parts["manifest.json"] = json.dumps(manifest).encode()

    rewritten(path, edit)
