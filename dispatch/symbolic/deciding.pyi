"""What is known of an expression without a guard."""
