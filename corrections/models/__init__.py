"""Tables, constraints and chainable filters of the corrections app."""

from corrections.models.receipts import Receipt, ReceiptUse
from corrections.models.rules import Rule, RulesetStamp, RuleVersion

__all__ = ["Receipt", "ReceiptUse", "Rule", "RuleVersion", "RulesetStamp"]
