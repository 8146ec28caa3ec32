"""The acceptance test: registered constants and paired scores in, a verdict with its numbers out. No SQL, no clock."""
