"""The command line: one module a command. A command parses, calls the library, and maps errors."""
