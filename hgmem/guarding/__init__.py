"""Guarding tool calls: ask, apply, call, adjust, record.

:class:`~hgmem.guarding.tasks.Task` is what calls belong to, :class:`~hgmem.guarding.call.Call` one guarded
call from its question to its record, :mod:`~hgmem.guarding.running` drives calls, sync and async, and
:func:`~hgmem.guarding.guard.guard` wraps a callable. Framework integrations are a few lines over these.
"""
