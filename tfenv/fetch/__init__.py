"""Verified downloads: a content-addressed cache, filled in parallel from several places."""
