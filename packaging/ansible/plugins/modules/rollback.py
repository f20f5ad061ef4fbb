#!/usr/bin/python
# Copyright: The rocmcfg authors
# GNU General Public License v3.0+ (LICENSES/GPL-3.0-or-later.txt, https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: rollback
short_description: Undo the last transaction of rocmcfg, or all transactions since an earlier one
version_added: 0.1.0
description:
  - Undoes what rocmcfg applied last. It restores files byte for byte, and then the boot menu and images.
  - To undo everything, use M(rocmcfg.amdgpu.profile) with O(rocmcfg.amdgpu.profile#module:state=absent).
  - With O(to=previous), each run undoes one more transaction, until none is left.
  - It never reboots.
extends_documentation_fragment:
  - rocmcfg.amdgpu.host
options:
  to:
    description:
      - How far to go back.
      - The number of a transaction restores the state of the host after that transaction. If it is the one in
        force, nothing is changed.
      - V(previous) undoes the last transaction, and the next run undoes the one before it.
      - An empty value is refused, so that a variable without a value undoes nothing.
    type: raw
    required: true
attributes:
  check_mode:
    support: full
    details: Nothing is written on the host.
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: With the number of a transaction. With V(previous), the next run undoes one more transaction.
seealso:
  - module: rocmcfg.amdgpu.profile
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: Undo what was applied last
  rocmcfg.amdgpu.rollback:
    to: previous
  become: true

- name: Go back to the state after transaction 3
  rocmcfg.amdgpu.rollback:
    to: 3
  become: true

- name: Apply, verify, and undo it if the check fails
  become: true
  block:
    - name: Apply
      rocmcfg.amdgpu.profile:
        profiles: auto
      register: amdgpu

    - name: Verify that everything is configured
      rocmcfg.amdgpu.settings_info:
        pending_ok: true
  rescue:
    - name: Undo it
      rocmcfg.amdgpu.rollback:
        to: previous
      when: amdgpu.changed
"""

RETURN = r"""
transactions:
  description: The numbers of the transactions that were undone, or would be in check mode.
  returned: success
  type: list
  elements: int
changes:
  description: The files that were changed, or would be, with C(path), C(kind) and C(reason).
  returned: success
  type: list
  elements: dict
diff:
  description: The differences of those files, whole texts before and after. Shown with C(--diff).
  returned: success
  type: list
  elements: dict
activations:
  description: The programs that put the files into effect, each with C(tool), C(argv), C(reason) and
    C(state).
  returned: success
  type: list
  elements: dict
reboot_required:
  description: Whether the running kernel keeps the undone settings until a reboot.
  returned: success
  type: bool
diagnostics:
  description: The diagnostics of rocmcfg, each with C(id), C(severity), C(summary), C(detail), C(location)
    and C(hint).
  returned: always, unless Ansible itself refuses the options
  type: list
  elements: dict
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
  description: Whether the rollback itself failed and was undone.
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
        argument_spec=dict(HOST_OPTIONS, to={"type": "raw", "required": True}),
        supports_check_mode=True,
    )
    refuse_old_python(module)
    try:
        target = request.rollback_arguments(module.params["to"])
    except request.NotAsWritten as problem:
        refuse(module, str(problem))
    program = Program.of(module)
    arguments = ["rollback"] + request.host_arguments(module.params) + target
    preview = program.ask(arguments + ["--dry-run"])
    ran = None if module.check_mode or not preview["transactions"] else program.ask(arguments + ["--yes"])
    results = answer.undone_results(preview, ran)
    results.update(changed=bool(preview["transactions"]), version=program.version, executable=program.path)
    module.exit_json(**results)


if __name__ == "__main__":
    main()
