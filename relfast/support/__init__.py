"""What several parts stand on and no part is about."""
