"""Reports: figures, tables and one self-contained HTML page, from ReAlign's results or from scored rows.

This package needs the extra `report`. If something cannot be drawn (an empty group, a constant column),
the figure or file that would have shown it says so.
"""
