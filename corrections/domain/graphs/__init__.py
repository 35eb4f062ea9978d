"""Graphs of rules: who needs whom, and where it is drawn. Pure, and the only place here for networkx."""
