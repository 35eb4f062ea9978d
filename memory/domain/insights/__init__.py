"""What the recorded tasks say when they are counted: pure arithmetic over frozen snapshots."""
