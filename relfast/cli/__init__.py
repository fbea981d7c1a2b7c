"""The command line. Commands' modules parse options and call the library; `.main` makes exit codes of
errors."""
