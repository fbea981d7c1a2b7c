"""relfast as a part of other tools: modules that import the tool they are for, and are imported by it.

====================  ====================================================================================
`.verifiers`          verifiers 0.4 (v1) and prime-rl: a taskset
`.inspect`            inspect_ai: tasks and a scorer
`.lm_eval`            lm-evaluation-harness: tasks as YAML, and the functions they name
`.lighteval`          lighteval: a table of tasks, and their metric
====================  ====================================================================================

`.documents` makes the rows that the last two hand over.
"""
