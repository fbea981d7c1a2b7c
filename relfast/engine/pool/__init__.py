"""Worker processes: how they are started, what they are sent, and what happens when one of them dies."""
