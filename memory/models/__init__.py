"""Tables, constraints and chainable filters of the memory app."""

from memory.models.accounts import ApiKey, Member, User, Workspace
from memory.models.answers import StoredAnswer
from memory.models.audit import AuditEvent
from memory.models.experience import Outcome, Payload, Step, Task, ToolCall
from memory.models.failures import DailyCount, ErrorPattern, Failure, PatternLink
from memory.models.imports import ImportJob
from memory.models.insights import RepeatCell, RetryCell, SpeedCell, TaskInsight, WayCell
from memory.models.localizations import Localization, PathUse
from memory.models.paths import Lineage, Node, Path, PathBuild, PathEdge, PathEntry, PathNode, RewardChange
from memory.models.rewrites import Alert, RewriteProposal
from memory.models.sequences import SequenceKind, ToolSequence
from memory.models.texts import TextEntry
from memory.models.tools import Tool, ToolSchema, Validator
from memory.models.traces import Trace, TraceSpan
from memory.models.watches import TaskWatch
from memory.models.weak_spots import PatternHour, ToolHour, WeakSpot, WeakSpotMember, WeakSpotScan
from memory.models.webhooks import Webhook, WebhookDelivery

__all__ = [
    "Alert", "ApiKey", "AuditEvent", "DailyCount", "ErrorPattern", "Failure", "ImportJob", "Lineage",
    "Localization", "Member", "Node", "Outcome", "Path", "PathBuild", "PathEdge", "PathEntry", "PathNode",
    "PathUse", "PatternHour", "PatternLink", "Payload", "RepeatCell", "RetryCell", "RewardChange",
    "RewriteProposal", "SequenceKind", "SpeedCell", "Step", "StoredAnswer", "Task", "TaskInsight",
    "TaskWatch", "TextEntry", "Tool", "ToolCall", "ToolHour", "ToolSchema", "ToolSequence", "Trace",
    "TraceSpan", "User", "Validator", "WayCell", "WeakSpot", "WeakSpotMember", "WeakSpotScan", "Webhook",
    "WebhookDelivery", "Workspace",
]  # fmt: skip
