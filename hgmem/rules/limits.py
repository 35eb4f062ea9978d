"""The caps that keep every evaluation small and bounded."""

MAX_CONDITION_CHARS = 2_000
MAX_CONDITION_NODES = 500
MAX_CONDITION_DEPTH = 60
"""Nesting of the syntax tree. A chain of ``&&`` is balanced by the parser, so 60 is generous."""
MAX_BRACKETS = 30
"""Nesting of brackets in the source, checked before the parser sees it (its own recursion ends at 32)."""
MAX_COMPREHENSION_DEPTH = 2

MAX_CONTEXT_VALUES = 20_000
"""Values (mapping entries and list items) in one context, all parts together."""
MAX_CONTEXT_CHARS = 1_000_000
MAX_CONTEXT_DEPTH = 50
MAX_HISTORY = 1_000

MAX_EVALUATED_ITEMS = 10_000
"""Upper bound on the loop bodies that one evaluation may run."""
MAX_EVALUATION_WORK = 5_000_000
"""Upper bound on loop bodies times characters read."""
MAX_BUILT_CHARS = 4_000_000
"""Upper bound on the text that ``replace``, ``join`` and ``format`` could build."""

MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 5_000
MAX_MESSAGE_CHARS = 2_000
MAX_TEMPLATE_CHARS = 4_000
MAX_HINT_CHARS = 8_000
"""A rendered hint is cut here."""
MAX_OPERATIONS = 50
MAX_REGEX_CHARS = 500
MAX_PATH_CHARS = 300
MAX_MATCHED_CHARS = 100_000
"""Longer subjects of ``matches`` are an evaluation error: some patterns need their length times its own."""
MAX_EXTRACT_VISITS = 50_000
"""Upper bound on the values that one JSONPath may look at."""
MAX_SCHEMA_WORK = 50_000
"""What checking one document against a JSON Schema may spend on references: see ``schemas.spend``."""
MAX_PATTERN_TEXT = 256
"""Longer subjects of ``matches`` are handed to the linear-time engine of the CEL runtime."""
