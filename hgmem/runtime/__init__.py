"""What runs in an agent's process: deciding within a deadline, the copy of the rules, recording."""
