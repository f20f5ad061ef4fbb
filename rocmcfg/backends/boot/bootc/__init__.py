"""bootc, image mode, where bootc itself keeps kernel arguments by their source: bootc 1.15.2 and later with
libostree 2026.1 and later, but for 2026.2.

`bootc loader-entries set-options-for-source --source rocmcfg` makes a new deployment with our arguments,
which boots next, and notes in its boot entry that they are ours (x-options-source-rocmcfg). Updates inherit
both. What others put there, and the image's own kargs.d, stay. What is said of deployments under rpm-ostree
holds here as well.

With an older bootc, or libostree 2026.2, which forgets whose the arguments are, rpm-ostree is used where it
is installed. A host that boots from composefs without ostree, its command line being part of a signed kernel
image, is refused: its settings belong into the image (rocmcfg render --format bootc). Sources: bootc 1.16.9
and libostree 2026.4. Played with a stand-in, not on a real host.
"""

PROGRAM = "/usr/bin/bootc"
