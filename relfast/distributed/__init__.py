"""Scoring on a cluster (extra ``ray``): folders of dumps on Ray, and a callable for pipelines of one's own.

::

    relfast score 's3://bucket/run/*.jsonl.gz' -o s3://bucket/run.scored --engine ray

    from relfast.distributed import RayScorer
    dataset.map_batches(RayScorer, fn_constructor_kwargs={"policy": "strict"}, **RayScorer.ray_options())

Inputs become chunks, chunks become parts (`relfast.distributed.parts`), a part becomes a file of rows and a
note that it is whole (`relfast.distributed.output`). What runs where is Ray's business (`cluster`); what is
scored, and how, is the local engine's.
"""

from relfast.distributed.ray_scorer import RayScorer
from relfast.distributed.run import score_on_ray

__all__ = ["RayScorer", "score_on_ray"]
