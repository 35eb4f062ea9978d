"""Dates as people who read logs want them, whatever the language."""

DATETIME_FORMAT = "Y-m-d H:i"
DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
