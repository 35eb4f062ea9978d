"""Tables, constraints and chainable filters of the corrections app."""

from corrections.models.canaries import Canary, CanaryEvent, CanaryLook, CanaryStage, Exposure
from corrections.models.changes import ChangeApproval, ChangeComment, ChangeRequest
from corrections.models.conflicts import FINDINGS, RULINGS, Conflict, ConflictScan, Ruling
from corrections.models.plays import DemoPlay
from corrections.models.proposals import Induction, ProposalCall, RuleProposal
from corrections.models.receipts import IssuedToken, Receipt, ReceiptUse
from corrections.models.reviewing import Assignment, ItemComment, ManualDependency, ToolImpact
from corrections.models.rules import Rule, RuleDay, RulesetStamp, RuleVersion

__all__ = [
    "FINDINGS",
    "RULINGS",
    "Assignment",
    "Canary",
    "CanaryEvent",
    "CanaryLook",
    "CanaryStage",
    "ChangeApproval",
    "ChangeComment",
    "ChangeRequest",
    "Conflict",
    "ConflictScan",
    "DemoPlay",
    "Exposure",
    "Induction",
    "IssuedToken",
    "ItemComment",
    "ManualDependency",
    "ProposalCall",
    "Receipt",
    "ReceiptUse",
    "Rule",
    "RuleDay",
    "RuleProposal",
    "RuleVersion",
    "RulesetStamp",
    "Ruling",
    "ToolImpact",
]  # fmt: skip
