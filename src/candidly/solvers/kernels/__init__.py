"""Fused loops: what takes many passes over an array in NumPy, in one.

A kernel is a function with bodies in one file: loops over scalars, which numba compiles (the extra
``fast``), beside them the same in NumPy, with the docstring, and where that does not serve arrays
of PyTorch too, a third for these. Tests run all. ``CANDIDLY_KERNELS=numpy`` or ``with
running_by("numpy")`` does without numba.

- ``compiling``: ``kernel``, the decorator that binds the two bodies; numba is imported on the first
  call of a kernel, never by importing the package
- ``entry_products``: sums over the entries of a class, and products with them
- ``entry_simplex``: the entries of each instance projected onto the simplex
- ``left_out_labels``: soft labels of each instance by the predictions of the others
- ``likeness_loops``: entries compared with the other instances of their name
- ``matching_loops``: marginals over all ways to name a group
- ``nearest_loops``: instances compared with the names nearest to them
- ``sweep``: the elementwise part of an iteration of the ALM
"""

from candidly.solvers.kernels.compiling import Kernel, kernel, kernels_by, running_by

__all__ = ["Kernel", "kernel", "kernels_by", "running_by"]
