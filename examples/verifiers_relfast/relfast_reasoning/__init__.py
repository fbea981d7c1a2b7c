"""REL and SeqBench as a taskset of verifiers 0.4.

pip install ./examples/verifiers_relfast
eval relfast-reasoning --env.taskset.benchmark SeqBench --env.taskset.parameters '{"L": 20}'
"""

from relfast.integrations.verifiers import RelfastConfig, RelfastData, RelfastTask, RelfastTaskset

__all__ = ["RelfastConfig", "RelfastData", "RelfastTask", "RelfastTaskset"]
