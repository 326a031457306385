"""Looking for newer facts. A module per table; `index` alone asks the world."""
