"""Beyond memory and beyond one machine: the same solvers on shards.

- ``solving``: ``solve``, an estimator fitted on a source by a driver; Algorithm 2 over shards
- ``sources`` and ``stored_features``: what is solved, and how it is cut into shards of whole groups
- ``npy_part``, ``parquet_part`` and ``checksums``: of the files of a source; ``npy_file`` reads
  these in threads, ``file_maps`` are opened by other processes
- ``shard_making``: how a shard is made where its columns live, and what it keeps
- ``out_of_core``: the driver on disk, with a ``journal`` to go on from; ``on_ray``: that of Ray
- ``moments``, ``label_shard``: what shards of all methods do
- ``smallest``: which rows are smallest, by counts of digits
- ``row_space_fit``, ``open_set_fit``, ``alm_fit``: RowSpace, OpenSet, MCar and WMCar as calls of
  shards; ``open_set_labelling``: the open-set solver alone
"""

from candidly.distributed.checksums import SourceError, store_checksums
from candidly.distributed.journal import CheckpointError
from candidly.distributed.open_set_labelling import label_open_set
from candidly.distributed.out_of_core import Progress
from candidly.distributed.solving import solve
from candidly.distributed.sources import store_candidates
from candidly.distributed.stored_features import Features

__all__ = [
    "CheckpointError",
    "Features",
    "Progress",
    "SourceError",
    "label_open_set",
    "solve",
    "store_candidates",
    "store_checksums",
]
