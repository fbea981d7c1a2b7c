"""The command line. Each command has a module, which parses options and calls the library; `.main` maps
errors to exit codes."""
