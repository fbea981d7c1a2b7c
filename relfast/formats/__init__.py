"""Input dialects: the table of them, and the code that reads a row of any dialect into an `Entry`.

`relfast.engine.columns.rows` makes records of entries.
"""

from relfast.formats.entry import Entry
from relfast.formats.reading import detect, filter_of, read_row, recognise
from relfast.formats.table import DIALECTS, Dialect

__all__ = ["DIALECTS", "Dialect", "Entry", "detect", "filter_of", "read_row", "recognise"]
