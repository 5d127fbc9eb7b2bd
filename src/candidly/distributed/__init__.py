"""Beyond memory and beyond one machine: the same solvers on shards.

- ``solving``: ``solve``, an estimator fitted on a source by a driver; Algorithm 2 over shards
- ``source_reading``: what a user gives, as a source; ``sources``: what is solved, and how it is cut
  into shards of whole groups; ``known_again``: what tells it from others
- ``stored_features``: arrays, .npy and Parquet files (``npy_part``, ``parquet_part``) as one;
  ``stored_candidates``: a folder of theirs; ``checksums`` of files; ``npy_file``, which reads them
  in threads, and ``file_maps``, which other processes open
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
from candidly.distributed.stored_candidates import store_candidates
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
