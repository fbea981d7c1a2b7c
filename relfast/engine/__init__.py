"""From a dump of responses to rows: reading, scoring, writing. See each module's first line."""
