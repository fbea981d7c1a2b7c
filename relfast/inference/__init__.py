"""Asking OpenAI-compatible servers: the client, the log of requested rows, and `relfast run`.

A *request* is a record's prompt on its way to a server, a *completion* what came back: a text, or an error
as a value. The extra `run` is needed, and loaded, when a client is made.
"""
