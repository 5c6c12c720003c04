"""The outside world behind the ports. `bootstrap` alone imports from here."""
