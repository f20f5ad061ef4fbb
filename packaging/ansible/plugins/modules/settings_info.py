#!/usr/bin/python
# Copyright: The rocmcfg authors
# GNU General Public License v3.0+ (LICENSES/GPL-3.0-or-later.txt, https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: settings_info
short_description: Verify that the kernel parameters and variables are in effect
version_added: 0.1.0
description:
  - Compares, for each setting, what was applied with what the host's files say and with what the running
    kernel does.
  - Needs no rights beyond those of the login user, unless the kernel hides a value from that user.
extends_documentation_fragment:
  - rocmcfg.amdgpu.host
options:
  profiles:
    description:
      - Check these profiles instead of what rocmcfg applied, for example on a host that was configured by
        hand.
    type: list
    elements: raw
  fail:
    description: Whether any other RV(status) than V(in_effect) fails the task. If not, the task only reports.
    type: bool
    default: true
  pending_ok:
    description: Accept RV(status=pending), which means that everything is configured but a reboot (or a tool
      run) is still needed.
    type: bool
    default: false
attributes:
  check_mode:
    support: full
    details: It never changes anything.
  diff_mode:
    support: none
  idempotent:
    support: full
seealso:
  - module: rocmcfg.amdgpu.profile
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: After the reboot, verify that all settings are in effect
  rocmcfg.amdgpu.settings_info:

- name: Before the reboot, verify only that everything is configured
  rocmcfg.amdgpu.settings_info:
    pending_ok: true

- name: Check a host that was configured by hand
  rocmcfg.amdgpu.settings_info:
    profiles: [mi300x]
    fail: false
  register: amdgpu
"""

RETURN = r"""
status:
  description:
    - V(in_effect), V(pending) if a reboot or a tool run is still needed, V(differences), or
      V(nothing_applied).
    - It is also V(nothing_applied) if this host needs none of the settings of O(profiles); that does not
      fail the task.
  returned: always, unless rocmcfg gave no verdict
  type: str
checks:
  description:
    - One for each setting, with C(name), C(target), C(desired), C(configured), C(running), C(status),
      C(source) and C(detail).
  returned: always, unless rocmcfg gave no verdict
  type: list
  elements: dict
pending:
  description: Whether RV(status) is V(pending).
  returned: always, unless rocmcfg gave no verdict
  type: bool
profiles:
  description: The profiles that were checked.
  returned: always, unless rocmcfg gave no verdict
  type: list
  elements: str
transaction:
  description: The transaction in force, or null.
  returned: always, unless rocmcfg gave no verdict
  type: int
trial:
  description:
    - The transaction number of a trial that is on record, or null.
    - While it runs, RV(status) and RV(checks) are those of its settings.
  returned: always, unless rocmcfg gave no verdict
  type: int
diagnostics:
  description: The diagnostics of rocmcfg, each with C(id), C(severity), C(summary), C(detail), C(location)
    and C(hint).
  returned: always, unless Ansible itself refuses the options
  type: list
  elements: dict
msg:
  description: The verdict in one sentence.
  returned: always
  type: str
  sample: "in effect: all 4 settings"
version:
  description: The version of the rocmcfg that was used.
  returned: always, unless rocmcfg was not run
  type: str
  sample: 0.1.0
executable:
  description: Where it is.
  returned: always, unless rocmcfg was not run
  type: str
  sample: /usr/bin/rocmcfg
rc:
  description: The exit code of rocmcfg. Null if the module refused the task before it ran rocmcfg.
  returned: failure, unless Ansible itself refuses the options
  type: int
rolled_back:
  description: Always false; returned for consistency with the other modules.
  returned: failure, unless Ansible itself refuses the options
  type: bool
recovery_required:
  description: Whether C(rocmcfg recover) must be run on the host first.
  returned: failure, unless Ansible itself refuses the options
  type: bool
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.rocmcfg.amdgpu.plugins.module_utils import answer, request
from ansible_collections.rocmcfg.amdgpu.plugins.module_utils.program import (
    HOST_OPTIONS,
    Program,
    refuse,
    refuse_old_python,
)


def main():
    module = AnsibleModule(
        argument_spec=dict(
            HOST_OPTIONS,
            profiles={"type": "list", "elements": "raw"},
            fail={"type": "bool", "default": True},
            pending_ok={"type": "bool", "default": False},
        ),
        supports_check_mode=True,
    )
    refuse_old_python(module)
    try:
        profiles = request.names("profiles", module.params["profiles"])
    except request.NotAsWritten as problem:
        refuse(module, str(problem))
    program = Program.of(module)
    found = program.ask(
        ["verify"]
        + request.host_arguments(module.params, chroot=False)
        + ["--profile={0}".format(name) for name in profiles],
        accept=(0, 3, 6),
    )
    good, said = answer.verdict(found, module.params["pending_ok"], bool(profiles))
    results = {
        "msg": "rocmcfg: " + said,
        "status": found["status"],
        "checks": found["checks"],
        "pending": found["status"] == "pending",
        "profiles": found["profiles"],
        "transaction": found["transaction"],
        "trial": found["trial"],
        "diagnostics": found["diagnostics"],
        "version": program.version,
        "executable": program.path,
    }
    if module.params["fail"] and not good:
        refuse(module, results.pop("msg"), rc=program.code, **results)
    module.exit_json(changed=False, **results)


if __name__ == "__main__":
    main()
