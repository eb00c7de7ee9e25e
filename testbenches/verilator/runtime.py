"""How all builds by Verilator are compiled."""

import os
import pathlib
import shlex

# Verilator splits what it writes from some size on; then it compiles its headers twice more, and loads them for each part.
# In one part a bench of UALink frames takes 11 s of processor time instead of 20. From some number of classes on, each of them
# would be compiled by itself.
IN_ONE_PART = ["--output-split", "0", "-MAKEFLAGS", "VM_PARALLEL_BUILDS=0"]


def environment():
    """That of a build in which `compile.sh` keeps what is the same in every build."""
    return dict(os.environ, OBJCACHE=f"bash {shlex.quote(str(pathlib.Path(__file__).resolve().with_name('compile.sh')))}")
