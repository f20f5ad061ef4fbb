# Copyright: The rocmcfg authors
# SPDX-License-Identifier: MIT
"""Documentation that the modules share."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
requirements:
  - rocmcfg 0.1 or newer on the target
  - Python 3.6 or newer for Ansible on the target; rocmcfg itself needs 3.10 or newer, which may be another
    one
options:
  executable:
    description:
      - The rocmcfg to run.
      - Without it, the first one in the directories of the system, such as C(/usr/local/bin) and C(/usr/bin);
        for another user than root, the first one on E(PATH) before these.
      - An empty path is refused.
    type: path
  root:
    description:
      - The root directory of another host, for example of a mounted image, that is meant instead of the
        running one.
      - Nothing of the running host is read or written then.
      - An empty path is refused, so that a variable without a value does not stand for the running host.
    type: path
  chroot:
    description:
      - With O(root), run the tools of that host inside it, such as C(update-grub). Without, they are left
        to you,
        and the activations say so.
      - Modules that only look run no tools and take this for the sake of C(module_defaults) only.
    type: bool
    default: false
attributes:
  action_group:
    description: Its options can be given once for all modules of the group, in C(module_defaults).
    support: full
    membership:
      - rocmcfg.amdgpu.rocmcfg
  check_mode:
    description: Whether it can say what would change without changing anything.
  diff_mode:
    description: Whether it shows the differences of the files it changes, or would change.
  idempotent:
    description: Whether a second run with the same options leaves the host as it is and says so.
  platform:
    description: The systems that it works on.
    support: full
    platforms: linux
"""
