"""``manage.py rules export|plan|apply``: a workspace's rules as files, for a team that keeps them in git."""

import re
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any, cast

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.text import Text

from corrections.actions.rule_files import StalePlan, apply_rule_files, plan_rule_files
from corrections.domain.lifecycle import Refused
from corrections.domain.rule_files import (
    FORMATS,
    Plan,
    RuleFileError,
    SourceFile,
    write_rule_file,
    write_rule_folder,
)
from corrections.queries.rule_files import list_kept
from hgmem.rules import RuleError
from memory.domain.access import Actor, NotPermitted
from memory.permissions import SYSTEM, member_actor
from memory.queries.workspaces import find_user, find_workspace

CHANGES = 2
"""The exit code of ``plan`` when there is something to do."""
SIGNS = {
    "create": ("+", "green"), "edit": ("~", "yellow"), "enable": ("^", "green"), "disable": ("v", "yellow"),
    "retire": ("-", "red"), "wait": ("…", "cyan"),
}  # fmt: skip
ENDINGS = (".yaml", ".yml", ".json")
OURS = re.compile(r".+--.+--[0-9a-f]{8}\.(yaml|json)")
MAX_SHOWN = 200


class Command(BaseCommand):
    """Nothing goes around the approvals: what is applied is a batch of change requests."""

    help = (
        "Rules as files. export writes them, plan says what the files would change (exit code 0: nothing, 2: "
        "something), apply asks for it. PATH is a file, a folder with a file for each rule, or - for the "
        "standard output of export."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to do, where, and as whom."""
        parser.add_argument("what", choices=("export", "plan", "apply"))
        parser.add_argument("path", metavar="PATH")
        parser.add_argument("--workspace", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=FORMATS, help="of export; the name of the file tells it else")
        parser.add_argument(
            "--folder", action="store_true", help="export into a folder, a file for each rule"
        )
        parser.add_argument("--prune", action="store_true", help="retire rules that no file names")
        parser.add_argument("--by", metavar="USERNAME", help="the member in whose name apply asks")
        parser.add_argument("--reason", default="", help="why, for the change requests")

    def handle(self, *args: Any, **options: Any) -> None:
        """Raises CommandError with every fault of the files, and for what is refused."""
        workspace = find_workspace(options["workspace"])
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        self._console = Console(file=cast(IO[str], self.stdout), highlight=False, soft_wrap=True)
        try:
            getattr(self, f"_{options['what']}")(workspace, options)
        except (RuleFileError, StalePlan, Refused, RuleError, NotPermitted) as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def _export(self, workspace: Any, options: dict[str, Any]) -> None:
        rules, path = list_kept(workspace.pk, exported=True), Path(options["path"])
        kind = options["format"] or ("json" if path.suffix == ".json" else "yaml")
        if options["path"] == "-":
            self.stdout.write(write_rule_file(rules, kind), ending="")
        elif options["folder"] or path.is_dir():
            _write_folder(path, write_rule_folder(rules, kind))
        else:
            path.write_text(write_rule_file(rules, kind), encoding="utf-8")
        if options["path"] != "-":
            self.stdout.write(f"{len(rules):,} rules are in {path}.")

    def _plan(self, workspace: Any, options: dict[str, Any]) -> None:
        files = read_files(Path(options["path"]))
        plan = plan_rule_files(workspace_id=workspace.pk, files=files, by=SYSTEM, prune=options["prune"])
        self._show(plan)
        if plan.work:
            sys.exit(CHANGES)

    def _apply(self, workspace: Any, options: dict[str, Any]) -> None:
        by, files = _member(workspace, options["by"]), read_files(Path(options["path"]))
        asked = {"workspace_id": workspace.pk, "files": files, "by": by, "prune": options["prune"]}
        plan = plan_rule_files(**asked)
        self._show(plan)
        if not plan.work:
            return
        applied = apply_rule_files(digest=plan.digest, base=plan.base, reason=options["reason"], **asked)
        self.stdout.write(f"{applied.published:,} in force, {applied.waiting:,} wait for an approval.")
        if applied.batch:
            self.stdout.write(f"Batch {applied.batch}.")

    def _show(self, plan: Plan) -> None:
        shown = [change for change in plan.changes if change.verb != "keep"]
        for change in shown[:MAX_SHOWN]:
            sign, colour = SIGNS[change.verb]
            line = Text(f"{sign} {change.verb:8}{change.name}  ", style=colour)
            place = f"  {change.file.place}" if change.file else "  in no file"
            self._console.print(line.append(f"[{change.tool}]{place}", style="dim"))
            for field in change.changes if change.verb != "create" else ():
                self._console.print(Text(f"      {field.field}: {_short(field.old)} → {_short(field.new)}"))
        if len(shown) > MAX_SHOWN:
            self._console.print(f"... and {len(shown) - MAX_SHOWN:,} more")
        counts = {verb: getattr(plan.counts, verb) for verb in (*SIGNS, "keep")}
        said = ", ".join(f"{count:,} {verb}" for verb, count in counts.items() if count)
        self._console.print(said if plan.work else f"Nothing to do ({said or 'no rules'}).")


def read_files(path: Path) -> list[SourceFile]:
    """The file, or every YAML and JSON file below the folder. Raises :class:`RuleFileError`, OSError."""
    if path.is_dir():
        found = sorted(each for each in path.rglob("*") if each.suffix in ENDINGS and each.is_file())
        return [SourceFile(str(each.relative_to(path)), _read(each)) for each in found]
    return [SourceFile(path.name, _read(path))]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: this is not UTF-8 text.") from error


def _write_folder(folder: Path, files: list[SourceFile]) -> None:
    """Files of rules that were renamed or ended go; what the export did not write stays."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {file.name for file in files}
    for old in folder.iterdir():
        if OURS.fullmatch(old.name) and old.name not in names:
            old.unlink()
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")


def _member(workspace: Any, username: str | None) -> Actor:
    if not username:
        raise CommandError("apply needs --by USERNAME: changes are asked for in somebody's name.")
    user = find_user(username)
    actor = member_actor(user, workspace) if user else None
    if actor is None:
        raise CommandError(f"{username!r} is no member of this workspace.")
    return actor


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 100 else text[:99] + "…"
