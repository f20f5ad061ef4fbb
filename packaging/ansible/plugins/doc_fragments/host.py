# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Documentation that the modules share."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
requirements:
  - rocmcfg 0.1 or newer on the target
  - Python 3.6 or newer for Ansible on the target; rocmcfg itself needs 3.10 or newer, which may be another
    installation
options:
  executable:
    description:
      - The rocmcfg to run.
      - Without it, the first one in the directories of the system, such as C(/usr/local/bin) and C(/usr/bin).
        For users other than root, E(PATH) is searched first.
      - An empty path is refused.
    type: path
  root:
    description:
      - The root directory of another host, for example of a mounted image, to use instead of the running one.
      - Then nothing on the running host is read or written.
      - An empty path is refused, so that a variable without a value does not select the running host.
    type: path
  chroot:
    description:
      - With O(root), run the tools of that host, such as C(update-grub), inside it. Without this option,
        running them is left to you, and the activations say so.
      - Modules that only read run no tools, and accept this option only for C(module_defaults).
    type: bool
    default: false
attributes:
  action_group:
    description: Its options can be given once for all modules of the group, in C(module_defaults).
    support: full
    membership:
      - rocmcfg.amdgpu.rocmcfg
  check_mode:
    description: Whether it can report what would change without changing anything.
  diff_mode:
    description: Whether it shows the differences of the files it changes, or would change.
  idempotent:
    description: Whether a second run with the same options changes nothing and reports that.
  platform:
    description: The systems that it works on.
    support: full
    platforms: linux
"""
