"""Seconds and memory of solvers, against others and against what the hardware allows.

``python -m benchmarks.speed`` measures, stores ``results/speed.json`` and renews ``docs/speed.md``.

- ``measuring``: what a measurement is, and how parts declare theirs
- ``machine``: on what was measured
- ``own_process``: runs one, in a process of its own
- ``speed_parts``: which files declare measurements
- ``floors``: gemm, memory bandwidth and eigensolver of this machine
- ``alm_solves``: the ALM against ``line_by_line``, the paper's algorithms as they are written
- ``rpca_solves``: robust PCA against pyrpca and tensorly
- ``labelling_solves``: the default, and row-space completion of a million instances
- ``open_set_solves``: open-set labelling of a million faces, and of fewer
- ``device_solves``: solvers on a GPU
- ``growing_problems``: cost against instances and classes, beside other methods, and forecasts
- ``speed_report``: the table; ``growth_plot``: the plot
"""
