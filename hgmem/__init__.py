"""HGMem: correction rules that an agent asks for before each tool call.

This package is what an agent process imports. It never imports Django.
"""

__version__ = "0.1.0"
