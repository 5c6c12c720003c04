"""From messages to slots, events and memory items: grouping, distillation, merge, commit."""
