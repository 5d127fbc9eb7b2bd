"""Memory that is given back to the system."""

import platform
import subprocess
import sys

import pytest

CODE = """
import numpy as np
from candidly.heap import give_back
def taken():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1000
np.ones(4_000_000)  # from now on arrays as large come from the heap
own = [np.ones(125_000) for _ in range(150)]
last = np.ones(125_000)  # above them, so that they stay there
full = taken()
del own
freed = taken()
give_back()
print(full - freed, full - taken())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs the C library of GNU")
def test_memory_of_arrays_that_are_gone_is_given_back():
    said = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    before, after = map(float, said.stdout.split())
    assert before < 50
    assert after > 100
