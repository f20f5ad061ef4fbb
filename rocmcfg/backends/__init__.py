"""Backends: each file knows one boot loader, one initramfs generator or one kind of file, and could be
deleted without touching another. They read through a `HostView` and propose; they never write."""
