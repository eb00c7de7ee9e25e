"""Verilator's own sources, compiled once for all builds with the same options.

They are the same in every build, and take more time than a small bench: 6.5 s of processor time of 8.2, without dumps.
"""

import os
import pathlib
import shutil
import tempfile
import time

# Verilator splits what it writes from some size on; then it compiles its headers twice more, and loads them for each part.
# In one part a bench of UALink frames takes 11 s of processor time instead of 20.
IN_ONE_PART = ["--output-split", "0"]


def give(runtime, folder):
    """Puts the objects that an earlier build has left, if any, into the folder of the next one."""
    # Make takes those that are newer than the makefile, which is yet to be written.
    later = time.time() + 3600
    for name in runtime.glob("verilated*.[od]"):
        os.utime(shutil.copy(name, folder), (later, later))


def keep(folder, runtime):
    """Leaves the objects of a build for the next ones, as far as no other build has left them."""
    runtime.mkdir(exist_ok=True)
    for name in folder.glob("verilated*.[od]"):
        if (runtime / name.name).exists():
            continue
        # Whole from the first moment: other builds may be looking.
        with tempfile.TemporaryDirectory(dir=runtime) as part:
            pathlib.Path(shutil.copy2(name, part)).rename(runtime / name.name)
