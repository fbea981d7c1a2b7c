"""Rewards over HTTP: one small server around a `relfast.Scorer` (extra ``serve``)."""
