"""Guards for agent frameworks, a module for each: a few lines over :mod:`hgmem.guarding`.

Each needs its framework, which an extra brings: ``pip install 'hgmem[langchain]'`` and so on.
"""
