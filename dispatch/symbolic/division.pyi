"""Division without a remainder."""
