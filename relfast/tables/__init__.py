"""Tables as text for papers, spreadsheets and notebooks."""
