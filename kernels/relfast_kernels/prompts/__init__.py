"""Samples by prompt: how many each has, how many are right, and what most of them say."""
