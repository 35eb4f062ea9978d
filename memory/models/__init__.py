"""Tables, constraints and chainable filters of the memory app."""

from memory.models.accounts import ApiKey, Member, User, Workspace
from memory.models.answers import StoredAnswer
from memory.models.audit import AuditEvent
from memory.models.experience import Outcome, Payload, Step, Task, ToolCall
from memory.models.failures import DailyCount, ErrorPattern, Failure, PatternLink
from memory.models.imports import ImportJob
from memory.models.tools import Tool, ToolSchema, Validator

__all__ = [
    "ApiKey", "AuditEvent", "DailyCount", "ErrorPattern", "Failure", "ImportJob", "Member", "Outcome",
    "PatternLink", "Payload", "Step", "StoredAnswer", "Task", "Tool", "ToolCall", "ToolSchema", "User",
    "Validator", "Workspace",
]  # fmt: skip
