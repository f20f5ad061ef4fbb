"""The only package that touches the operating system.

`view.HostView` reads and `view.Host` writes; they are two types, so that a planner that writes does not
type-check. `local.LocalHost` implements both over a root directory.
"""
