"""From a model's name to a table: records asked, scored and reported, for several models, always resumable.

The built-in sets are small: they show that a model, its server and its prompts work, and about how well.
Papers take the published sets (``--records``).
"""
