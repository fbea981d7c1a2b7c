"""Input dialects: a table of them, and what it makes of a row: an `Entry`.

An `Entry` is what every dialect is brought to; `relfast.engine.rows` makes records of it.
"""

from relfast.formats.entry import Entry
from relfast.formats.reading import detect, filter_of, read_row, recognise
from relfast.formats.table import DIALECTS, Dialect

__all__ = ["DIALECTS", "Dialect", "Entry", "detect", "filter_of", "read_row", "recognise"]
