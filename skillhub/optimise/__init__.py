"""Optimising a skill on a budget of trials: a cheap screen searches, the gate alone commits. Pure: no database, no clock."""
