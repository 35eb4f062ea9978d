"""Where the nodes of a graph are drawn, what is near a node, and what a large graph boils down to. Pure."""
