"""What tests of storage and of staging share."""

import os
import subprocess

import pytest


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a file system of 256 KiB can only be mounted by root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)
