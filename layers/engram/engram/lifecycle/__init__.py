"""What happens to memories over time: deletion with a receipt, export, rebuilding."""
