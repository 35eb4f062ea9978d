"""Localization: which whole path fits a goal, and why. Pure."""
