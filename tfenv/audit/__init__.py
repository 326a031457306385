"""Are two wheels, folders or images the same, who made one and how, and may it be released."""
