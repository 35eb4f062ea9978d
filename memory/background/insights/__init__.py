"""The insight pass: every finished task is read once, and every counter adds what it says to its tables."""
