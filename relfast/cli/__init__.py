"""The command line: commands' modules parse options and call the library; `.main` maps errors to exit codes."""
