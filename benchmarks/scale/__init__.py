"""Beyond memory and beyond one machine, measured: ``python -m benchmarks.scale``.

- ``__main__``: the command; ``scale_parts``: what is measured, one function per part
- ``drawn_problems``: tenths of real data, with a broken row, skewed classes or in another order
- ``made_up``: instances around the means of names, written piece by piece
- ``disk_and_flop``: the floor that disk and processor set; ``limited``: a process with a limit
- ``scale_report``: the tables of ``docs/scale.md``
- ``expectation``: what to expect at other sizes, computed from what was measured
"""
