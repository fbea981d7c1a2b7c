"""Reports: figures, tables and one self-contained HTML page, from ReAlign's results or from scored rows.

Everything here needs the extra `report`; what cannot be drawn (an empty group, a constant column) is said
in the file that would have shown it.
"""
