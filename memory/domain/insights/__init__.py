"""What the evidence tells about speed, ways, weak spots and repeats: pure counting of single tasks."""
