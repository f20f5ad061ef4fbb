#!/usr/bin/python
# Copyright: The rocmcfg authors
# GNU General Public License v3.0+ (LICENSES/GPL-3.0-or-later.txt, https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: profile
short_description: Apply profiles of kernel parameters and variables for AMD GPUs, or undo them
version_added: 0.1.0
description:
  - Sets the kernel parameters of amdgpu, and the environment variables that belong to them, as profiles and
    settings say, with the rocmcfg that is installed on the host. It is one transaction; if a step fails, the
    host is rolled back.
  - The settings of the task replace what rocmcfg applied before.
  - It never reboots. Most settings take effect with the next boot; see RV(reboot_required).
  - Which settings a host needs depends on its GPUs, kernels and ROCm. RV(skipped_settings) says what was
    left out, and why.
  - With O(trial) the settings last for one boot, and are dropped unless they are confirmed during it.
extends_documentation_fragment:
  - rocmcfg.amdgpu.host
options:
  profiles:
    description:
      - Names of profiles, V(auto) for those of the GPUs found, or the path of a C(.toml) file on the host.
      - With O(state=absent), undo only if these are in force. An empty list names none, and so does V(auto)
        on a host for which there is no profile; then nothing is undone.
    type: list
    elements: raw
  set:
    description:
      - Single settings, such as C(amdgpu.runpm), C(feature.gfxoff), C(karg.iommu), C(env.NAME), or
        C(profile.NAME) for what a profile leaves to you. C(rocmcfg explain NAME) explains one.
      - An empty text means a kernel argument without a value.
      - A value must reach rocmcfg as you wrote it, and YAML turns C(on), C(off), C(yes) and C(no) into
        booleans and C(0777), C(0x1F), C(1:30) and C(1_000) into other numbers. Booleans, fractions, lists and
        missing values are therefore refused. So are integers of more than one digit for C(karg.), C(env.) and
        C(feature.). Module parameters and C(profile.) settings are read as numbers anyway and may be any
        integer.
      - Some changes by YAML cannot be detected, so put values of C(karg.), C(env.) and C(feature.) in quotes.
        Without quotes a number of one digit is taken as that digit, even if it was written as C(007) or
        C(0x7), and a date with a time arrives as Ansible writes it.
      - C($NAME) and C(~) are passed on literally; neither Ansible nor a shell expands them.
      - Not for secrets. The values, including those of C(env.), are written to files that every user of the
        host can read, and the log of the host, the differences and the results of the task show them.
    type: dict
  with:
    description: Optional settings of the profiles to add.
    type: list
    elements: raw
  without:
    description: Settings of the profiles to leave out.
    type: list
    elements: raw
  state:
    description:
      - V(present) applies the settings of the task.
      - V(absent) undoes everything that rocmcfg applied on the host, as C(rocmcfg rollback --pristine) does.
        It ignores all options except O(profiles) and those that select the host.
      - V(absent) changes nothing if none of O(profiles) is in force. If other profiles are in force as well,
        it fails and says what to write instead.
    type: str
    choices: [present, absent]
    default: present
  via:
    description: Where module parameters are written. Without it rocmcfg chooses the kernel command line.
    type: str
    choices: [cmdline, modprobe]
  unconditional:
    description: Also apply what this kernel and ROCm do not need.
    type: bool
    default: false
  any_gpu:
    description: Apply even if the host has no GPU of the profile.
    type: bool
    default: false
  boot_backend:
    description: The boot loader, for a host that has two and does not show which one boots it.
    type: str
  trial:
    description:
      - Try the settings for one boot. The next boot has them, and the one after it has the old settings
        again, even after a hang, a panic or a power cut, unless M(rocmcfg.amdgpu.trial) or O(confirm_after)
        confirms them in between.
      - Needs a boot loader that can boot an entry once, such as GRUB on a file system that it can write to,
        or systemd-boot. Otherwise the task fails with the reason, and nothing is changed.
      - A task whose trial is already on record changes nothing. The profiles, the settings that rocmcfg
        derives from the task, O(confirm_after) and O(health_check) are compared. Any other trial on record
        makes the task fail, and so do the remains of one that is over.
    type: bool
    default: false
  confirm_after:
    description:
      - The time after which the trial confirms itself, such as V(90s), V(10m) or V(1h), if everything is in
        effect by then and rocmcfg finds nothing wrong.
      - Without it, the trial never confirms itself. Only with O(trial).
    type: raw
  health_check:
    description:
      - A shell command that must succeed before the trial confirms itself. Without it, a user must have
        logged in. Only with O(confirm_after).
      - Not for secrets; give the path of a program that reads them instead. Every user of the host can read
        this command in the record of the trial, and the log of the host and the results of the task show it.
    type: raw
attributes:
  check_mode:
    support: full
    details: Nothing is written on the host.
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: rocmcfg.amdgpu.settings_info
  - module: rocmcfg.amdgpu.rollback
  - module: rocmcfg.amdgpu.trial
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: Apply the profile for the GPUs found
  rocmcfg.amdgpu.profile:
    profiles: auto
  become: true
  register: amdgpu

- name: Reboot if needed
  ansible.builtin.reboot:
  become: true
  when: amdgpu.reboot_required

- name: Apply a profile without one of its settings, and two more settings
  rocmcfg.amdgpu.profile:
    profiles: [gfx1201]
    without: [env.DISABLE_ADDMM_CUDA_LT]
    set:
      amdgpu.runpm: 0
      karg.iommu: pt
  become: true

- name: Quote values, because YAML reads on and off as booleans
  rocmcfg.amdgpu.profile:
    set:
      feature.gfxoff: "false"
      env.HSA_ENABLE_SDMA: "0"
  become: true

- name: Try it for one boot; it confirms itself after ten minutes if the self-test passes
  rocmcfg.amdgpu.profile:
    profiles: auto
    trial: true
    confirm_after: 10m
    health_check: /usr/local/sbin/gpu-selftest
  become: true

- name: Undo everything that rocmcfg applied
  rocmcfg.amdgpu.profile:
    state: absent
  become: true

- name: Prepare a mounted image, and run its own tools in it
  rocmcfg.amdgpu.profile:
    profiles: [mi300x]
    any_gpu: true
    root: /mnt/image
    chroot: true
  become: true
"""

RETURN = r"""
changes:
  description: The files that were changed, or would be in check mode, and changes to what a program keeps
    elsewhere.
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: The file.
      type: str
    tool:
      description: In place of RV(changes[].path), the program that changed it, such as C(grub-editenv).
      type: str
    kind:
      description: One of V(create), V(modify), V(remove).
      type: str
    reason:
      description: What it is for.
      type: str
diff:
  description: The differences of those, whole texts before and after. Shown with C(--diff).
  returned: success
  type: list
  elements: dict
activations:
  description:
    - The programs that put the files into effect, such as C(update-grub), each with C(tool), C(argv),
      C(reason) and C(state).
    - C(state) is V(done), V(planned) in check mode, V(left_to_user) in another host's root without
      O(chroot), or
      V(skipped).
  returned: success
  type: list
  elements: dict
reboot_required:
  description:
    - Whether the contents of the host's files take effect only with a reboot. It stays true, even for a run
      without changes, until the host is rebooted.
    - With O(state=absent) it describes only a run that undid something. A run without changes returns false.
  returned: success
  type: bool
transaction:
  description: The number of the transaction that was made, for the module M(rocmcfg.amdgpu.rollback). Null
    if there was none.
  returned: success
  type: int
transactions:
  description: The numbers of the transactions that were undone, or would be.
  returned: O(state=absent)
  type: list
  elements: int
trial:
  description:
    - What is tried for one boot, with the C(arguments) on the kernel command line of that boot,
      C(confirm_after) in seconds or null, and C(health_check).
    - Null if nothing is tried.
  returned: success
  type: dict
settings:
  description: Each setting with its value, where it goes, why it applies to this host, evidence and cost.
  returned: success
  type: list
  elements: dict
skipped_settings:
  description:
    - The settings of the profiles that this host does not need or that are optional, each with C(setting) and
      C(reason).
    - The documents of rocmcfg call them C(skipped), but in Ansible that would mark the whole task as skipped.
  returned: success
  type: list
  elements: dict
profiles:
  description: The names of the profiles, with V(auto) replaced by what it selects. With V(absent), those
    that were in force.
  returned: success
  type: list
  elements: str
diagnostics:
  description:
    - The diagnostics of rocmcfg, each with C(id), C(severity), C(summary), C(detail), C(location) and
      C(hint).
    - Warnings among them are also shown as warnings of the task.
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
  description: Whether a step failed and the host was rolled back, so that nothing of the change remains.
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
    options = {
        "profiles": {"type": "list", "elements": "raw"},
        # Every user of the host can read them, as documented. Masking would hide none of them, and would put
        # asterisks in place of every 0, 1 and true in the results: Ansible replaces text wherever it occurs.
        "set": {"type": "dict", "no_log": False},
        "with": {"type": "list", "elements": "raw"},
        "without": {"type": "list", "elements": "raw"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "via": {"type": "str", "choices": ["cmdline", "modprobe"]},
        "unconditional": {"type": "bool", "default": False},
        "any_gpu": {"type": "bool", "default": False},
        "boot_backend": {"type": "str"},
        "trial": {"type": "bool", "default": False},
        "confirm_after": {"type": "raw"},
        "health_check": {"type": "raw", "no_log": False},
    }
    module = AnsibleModule(argument_spec=dict(options, **HOST_OPTIONS), supports_check_mode=True)
    refuse_old_python(module)
    try:
        wanted = request.names("profiles", module.params["profiles"])
        trial = request.trial_arguments(module.params)
        arguments = None if module.params["state"] == "absent" else request.profile_arguments(module.params)
    except request.NotAsWritten as problem:
        refuse(module, str(problem))
    if arguments is None:
        results = absent(module, None if module.params["profiles"] is None else wanted)
    elif not wanted and not module.params["set"]:
        refuse(module, "Say what to apply: profiles (a name, or auto), or set, or both.")
    else:
        results = present(module, trial, arguments)
    module.exit_json(**results)


def present(module, trial, arguments):
    program = Program.of(module)
    host = request.host_arguments(module.params)
    tried = on_record(module, program, host + arguments) if trial else None
    if tried:
        return dict(tried, changed=False, version=program.version, executable=program.path)
    how = "--dry-run" if module.check_mode else "--yes"
    found = program.ask(["apply", how] + host + trial + arguments)
    runs_tools = not module.params["root"] or module.params["chroot"]
    changed = answer.planned(found, runs_tools) if module.check_mode else answer.done(found)
    return dict(answer.plan_results(found), changed=changed, version=program.version, executable=program.path)


def on_record(module, program, arguments):
    """Results for the trial that is on record, if it is what the task asks for."""
    status = program.ask(["status"] + request.host_arguments(module.params, chroot=False), warn=False)
    if status["trial"] is None:
        return None
    wanted = program.ask(["apply", "--dry-run"] + arguments, warn=False)
    return answer.tried_already(status, wanted, request.terms(module.params))


def absent(module, wanted):
    program = Program.of(module)
    host = request.host_arguments(module.params)
    verified = program.ask(["verify"] + request.host_arguments(module.params, chroot=False), accept=(0, 3, 6))
    in_force = verified["profiles"]
    # on a host with a trial, verify reports only what is tried
    if (wanted and "auto" in wanted) or verified["trial"] is not None:
        status = program.ask(["status"] + request.host_arguments(module.params, chroot=False))
        wanted = answer.named(wanted, status)
        in_force = answer.in_force(status)
    undo_due, refusal = answer.is_undo_due(wanted, in_force)
    if refusal:
        program.fail({"msg": "rocmcfg: " + refusal, "diagnostics": verified["diagnostics"]})
    lists = ("changes", "diff", "activations", "transactions", "settings", "skipped_settings")
    results = dict((name, []) for name in lists)
    results.update(transaction=None, trial=None, reboot_required=False, diagnostics=verified["diagnostics"])
    if undo_due:
        undo = ["rollback", "--pristine"] + host
        preview = program.ask(undo + ["--dry-run"])
        ran = None if module.check_mode or not preview["transactions"] else program.ask(undo + ["--yes"])
        results.update(answer.undone_results(preview, ran))
    return dict(
        results,
        changed=bool(results["transactions"]),
        profiles=in_force,
        version=program.version,
        executable=program.path,
    )


if __name__ == "__main__":
    main()
