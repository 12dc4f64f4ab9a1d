"""What goes out: webhook deliveries, by real HTTP from threads, never under a world's lock."""
