"""What takes minutes: threads in each other's way, millions of calls that leave nothing."""
