"""Benchmarks of Candidly: measured by commands, stored in ``results/``, not installed.

1. ``paper``: the experiments and claims of the paper
2. ``accuracy``: labelling error, confidence and accuracy on unseen instances
3. ``photos``: faces found, names read and names given
4. ``captions``: made-up captions with labels
5. ``album``: draws photos of invented people; the demo ships one such album
6. ``house``: size and connectedness of the code itself
7. ``blas_threads``: seconds of a fit by threads of linear algebra
8. ``speed``: seconds and memory of solvers, against others and against the hardware
9. ``scale``: solves beyond memory and on a cluster, with workers killed
10. ``documents``: puts tables into ``docs/``
"""
