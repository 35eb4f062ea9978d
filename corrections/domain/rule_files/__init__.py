"""Rules as files: text to rules and back, and the plan that makes a workspace's rules what the files say."""

from corrections.domain.rule_files.faults import Fault, RuleFileError
from corrections.domain.rule_files.planning import (
    Counts,
    KeptRule,
    Plan,
    PlannedChange,
    describe_moves,
    plan_changes,
)
from corrections.domain.rule_files.reading import FileRule, SourceFile, read_rule_files
from corrections.domain.rule_files.writing import FORMATS, write_rule_file, write_rule_folder

__all__ = [
    "FORMATS", "Counts", "Fault", "FileRule", "KeptRule", "Plan", "PlannedChange", "RuleFileError",
    "SourceFile", "describe_moves", "plan_changes", "read_rule_files", "write_rule_file", "write_rule_folder",
]  # fmt: skip
