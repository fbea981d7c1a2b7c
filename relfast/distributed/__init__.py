"""Scoring on a cluster (extra ``ray``): files of dumps on Ray, and a callable for your own data pipelines.

::

    relfast score 's3://bucket/run/*.jsonl.gz' -o s3://bucket/run.scored --engine ray

    from relfast.distributed import RayScorer
    dataset.map_batches(RayScorer, fn_constructor_kwargs={"policy": "strict"}, **RayScorer.ray_options())

Inputs are cut into shards. A node counts a shard's lines, so that its rows get the indices that they have
on one machine, and later scores it with the local engine (`shards`): a file of rows, and a note that it is
whole. Ray decides where, and tries again what it has lost (`cluster`); the driver sums up (`run`).
"""

from relfast.distributed.ray_scorer import RayScorer
from relfast.distributed.run import score_on_ray

__all__ = ["RayScorer", "score_on_ray"]
