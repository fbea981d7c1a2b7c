"""Worker processes: how they are started, what is said to them, what follows when they die."""
