"""What the service stands on: nested stacks, index mappings, and the same service on one machine."""
