"""Closed topics and entities per business: edited by people, compiled for the resolver, re-read when they change."""
