"""A real OpenSearch node with k-NN on this machine, from Maven artifacts: no Docker, no installation."""
