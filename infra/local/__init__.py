"""The service on one machine: the functions of template.yaml behind a local gateway, queue and schedule."""
