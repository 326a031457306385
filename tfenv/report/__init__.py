"""Reports for people and for CI, made from results that are plain values."""
