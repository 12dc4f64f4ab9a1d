"""What calls would have cost: the public price list, and a ledger of each world.

Nothing is computed while requests are answered. A ledger takes entries from the journal when
somebody asks for costs or reads the journal, and before the journal forgets them.
"""
