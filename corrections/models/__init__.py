"""Tables, constraints and chainable filters of the corrections app."""

from corrections.models.receipts import IssuedToken, Receipt, ReceiptUse
from corrections.models.rules import Rule, RulesetStamp, RuleVersion

__all__ = ["IssuedToken", "Receipt", "ReceiptUse", "Rule", "RuleVersion", "RulesetStamp"]
