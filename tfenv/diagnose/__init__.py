"""Why did it fail, and what now: `explain` reads logs, `doctor` looks at machines."""
