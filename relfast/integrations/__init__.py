"""Tasks and scorers for evaluation tools. Each module imports its tool, and is imported by it.

====================  ====================================================================================
`.verifiers`          verifiers 0.4 (v1) and prime-rl: a taskset
`.inspect`            inspect_ai: tasks and a scorer
`.lm_eval`            lm-evaluation-harness: tasks as YAML, and the functions that they name
`.lighteval`          lighteval: a table of tasks, and their metric
====================  ====================================================================================

`.documents` makes the rows of the data sets that the last two give to their tool.
"""
