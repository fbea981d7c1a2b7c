"""Scoring on a cluster (extra ``ray``): files of dumps on Ray, and a callable for your own data pipelines.

::

    relfast score 's3://bucket/run/*.jsonl.gz' -o s3://bucket/run.scored --engine ray

    from relfast.distributed import RayScorer
    dataset.map_batches(RayScorer, fn_constructor_kwargs={"policy": "strict"}, **RayScorer.ray_options())

Inputs are cut into chunks, and chunks into parts (`relfast.distributed.parts`). A scored part is a file of
rows and a note that the file is complete (`relfast.distributed.output`). Ray decides which node runs which
task (`cluster`); the local engine scores.
"""

from relfast.distributed.ray_scorer import RayScorer
from relfast.distributed.run import score_on_ray

__all__ = ["RayScorer", "score_on_ray"]
