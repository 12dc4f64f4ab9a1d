"""A server elsewhere: the implementation of `interface` through its control plane."""
