"""The one way in which experience is written: prepared outside the transaction, merged and stored inside."""
