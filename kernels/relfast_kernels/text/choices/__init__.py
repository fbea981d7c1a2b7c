"""REL-A's sentences: what one says of the choices, by the rules of `relfast.tasks.rel_a`."""
