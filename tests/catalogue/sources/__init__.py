"""The data held against the sources that it is about: kernels, ids, libraries of ROCm.

`make sources` fetches what Debian has of them (some 700 MB, once) and says where data and source part. The
program's tests need nothing of it.
"""
