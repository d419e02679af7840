"""What `doctor` looks at, one kind of thing a module; every check is total.

Source: docs/reference/doctor.md.
"""
