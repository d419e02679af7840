"""The edge: the only package, beside the command line, that touches the world.

Disk, environment and clock are read here and turned into values; everything further in
is a function of those values.
"""
