"""What ReAlign's scripts ask unless told otherwise, under their names."""

from __future__ import annotations

from typing import Final

DEFAULT_LLM_API_ENDPOINT: Final = "http://127.0.0.1:1234/v1/completions"
DEFAULT_LLM_MODEL_NAME: Final = "mistral-7b"
EMBEDDING_MODEL: Final = "BAAI/bge-large-en-v1.5"
