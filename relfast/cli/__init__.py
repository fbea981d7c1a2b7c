"""The command line. A command's module parses options and calls the library; `.main` maps errors to exit
codes."""
