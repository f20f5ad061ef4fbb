#!/usr/bin/python
# Copyright: The rocmcfg authors
# GNU General Public License v3.0+ (LICENSES/GPL-3.0-or-later.txt, https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: trial
short_description: Keep the settings of a trial boot, or end the trial
version_added: 0.1.0
description:
  - A trial begins with O(rocmcfg.amdgpu.profile#module:trial). Its boot has the settings, and the boot
    after it does not, unless they are confirmed.
  - It never reboots.
extends_documentation_fragment:
  - rocmcfg.amdgpu.host
options:
  state:
    description:
      - V(confirmed) applies the settings of this boot permanently, as one transaction. It needs no other
        reboot, and fails if no trial is running or its settings are not in effect.
      - V(rejected) ends a trial, whether its boot is still to come, has begun or is over, and removes what
        was set up for it. What was applied before stays. It changes nothing if there is no trial.
    type: str
    choices: [confirmed, rejected]
    required: true
attributes:
  check_mode:
    support: full
    details: Nothing is written on the host.
  diff_mode:
    support: partial
    details: In check mode, V(confirmed) shows no differences.
  idempotent:
    support: partial
    details: With V(rejected). After a confirmation there is no trial any more, so another V(confirmed) fails.
seealso:
  - module: rocmcfg.amdgpu.profile
  - module: rocmcfg.amdgpu.settings_info
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: Try the profile for the GPUs for one boot
  rocmcfg.amdgpu.profile:
    profiles: auto
    trial: true
  become: true
  register: amdgpu

- name: Reboot
  ansible.builtin.reboot:
  become: true
  when: amdgpu.reboot_required

- name: Keep the settings if they are in effect, or else end the trial
  become: true
  when: amdgpu.trial is not none
  block:
    - name: Verify the settings
      rocmcfg.amdgpu.settings_info:

    - name: Keep the settings
      rocmcfg.amdgpu.trial:
        state: confirmed
  rescue:
    - name: End the trial
      rocmcfg.amdgpu.trial:
        state: rejected
"""

RETURN = r"""
changes:
  description: What was changed, or would be in check mode, with C(path) or C(tool), C(kind) and C(reason).
  returned: success
  type: list
  elements: dict
diff:
  description: The differences of those, whole texts before and after. Shown with C(--diff).
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
  description: Whether the running kernel has other settings than the next boot.
  returned: success
  type: bool
transaction:
  description: The number of the transaction that keeps the settings. Null in check mode.
  returned: O(state=confirmed)
  type: int
transactions:
  description: The number of the trial's transaction, if there was one that was undone, or would be.
  returned: O(state=rejected)
  type: list
  elements: int
last_trial:
  description:
    - How the newest trial in the history of the host ended, or null if there never was one.
    - C(transaction) is its number. C(outcome) is V(rejected), V(confirmed), V(not_confirmed) if its boot
      ended without a confirmation, or V(not_tried) if its boot never began; in check mode also the stage of
      a trial that is on record.
    - C(evidence) of a failed boot has C(source), C(text) and C(lines), or is null. C(withheld) says why the
      trial did not confirm itself.
  returned: O(state=rejected)
  type: dict
trial:
  description: What was tried, with C(arguments), C(confirm_after) and C(health_check).
  returned: O(state=confirmed)
  type: dict
settings:
  description: Each setting with its value, where it goes, why it applies to this host, evidence and cost.
  returned: O(state=confirmed)
  type: list
  elements: dict
skipped_settings:
  description: The settings that this host does not need or that are optional, with C(setting) and C(reason).
  returned: O(state=confirmed)
  type: list
  elements: dict
profiles:
  description: The names of the profiles that are in force now.
  returned: O(state=confirmed)
  type: list
  elements: str
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
  description: Whether a step failed and was undone, so that the trial is as before.
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
    refuse_old_python,
)


def main():
    state = {"type": "str", "choices": ["confirmed", "rejected"], "required": True}
    module = AnsibleModule(argument_spec=dict(HOST_OPTIONS, state=state), supports_check_mode=True)
    refuse_old_python(module)
    program = Program.of(module)
    results = {"confirmed": confirm, "rejected": reject}[module.params["state"]](module, program)
    module.exit_json(version=program.version, executable=program.path, **results)


def confirm(module, program):
    if not module.check_mode:
        found = program.ask(["confirm", "--yes"] + request.host_arguments(module.params))
        return dict(answer.plan_results(found), changed=True)
    looks = request.host_arguments(module.params, chroot=False)
    held = program.ask(["verify"] + looks, accept=(0, 3, 6))
    good, said = answer.verdict(held, False, [])
    if held["trial"] is None:
        good, said = False, "there is no trial to confirm"
    if not good:
        program.fail({"msg": "rocmcfg: " + said, "diagnostics": held["diagnostics"]})
    return dict(answer.confirmed_results(program.ask(["status"] + looks, warn=False)), changed=True)


def reject(module, program):
    host = request.host_arguments(module.params)
    history = ["history"] + request.host_arguments(module.params, chroot=False)
    due = answer.trial_on_record(program.ask(history)) is not None
    # a trial on record is always the last transaction, so rejecting it means rolling it back
    preview = program.ask(["rollback", "--dry-run"] + host, warn=False) if due else answer.NOTHING_UNDONE
    ran = program.ask(["reject", "--yes"] + host) if not module.check_mode else None
    results = answer.undone_results(preview, ran)
    return dict(results, changed=due, last_trial=answer.last_trial(program.ask(history)))


if __name__ == "__main__":
    main()
