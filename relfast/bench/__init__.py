"""`relfast bench`: sends records to models, scores the responses and writes reports. Resumable.

The built-in sets are small: they show that a model, its server and its prompts work, and roughly how well.
Papers should use the published sets (``--records``).
"""
