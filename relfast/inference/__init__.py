"""Sends records to OpenAI-compatible servers: the client, the log of requested rows, and `relfast run`.

A *request* is a record with its prompt; a *completion* is the server's result for one prompt: a text, or an
error as a value. The extra `run` (`openai`) is imported when a client is made.
"""
