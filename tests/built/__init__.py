"""What `sam build` makes, under Lambda's own runtime interface, and its deployment to an emulator."""
