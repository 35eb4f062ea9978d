"""What a process keeps in memory: the embedder and the index of paths."""
