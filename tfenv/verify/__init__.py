"""Verification: an environment from the lock, the suite in it, and what the suite found."""
