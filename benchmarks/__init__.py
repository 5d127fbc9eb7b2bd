"""Benchmarks of Candidly: measured by commands, stored in ``results/``, not installed.

1. ``paper``: the experiments and claims of the paper
2. ``accuracy``: labelling error, confidence and accuracy on unseen instances
3. ``photos``: faces found, names read and names given
4. ``album``: draws photos of invented people; the demo ships one such album
5. ``house``: size and connectedness of the code itself
6. ``blas_threads``: seconds of a fit by threads of linear algebra
7. ``documents``: puts tables into ``docs/``
"""
