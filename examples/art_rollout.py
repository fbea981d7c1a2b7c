"""relfast as the reward of ART's trajectories (openpipe-art 0.5).

    trajectory = art.Trajectory(messages_and_choices=[…, choice], reward=0.0)
    ended = await asyncio.gather(*(scored(one, row) for one in trajectories), return_exceptions=True)
    group = art.TrajectoryGroup(ended)

`scored` gives a trajectory its reward and metrics. One without a score whose own fault it is not raises:
ART leaves exceptions out of a `TrajectoryGroup`, which so has no 0 that nobody earned.
"""

from typing import Any

import art

from relfast.rewards.verl import make_compute_score

_score = make_compute_score(asynchronous=True, on_error="raise")


async def scored(trajectory: art.Trajectory, row: dict[str, Any]) -> art.Trajectory:
    """The trajectory with its reward: its last message, with a row's ``task``, ``answer``, ``question``."""
    found = await _score(row.get("task"), trajectory.messages(), row["answer"], row)
    trajectory.reward = found["score"]
    trajectory.metrics |= {"correct": found["acc"], "answered": found["answered"]}
    return trajectory
