"""The only package that touches the operating system.

`view.HostView` reads and `view.Host` writes; they are two types, so that a planner that writes does not
type-check. Both are of a root directory, that of the running system or another one.
"""
