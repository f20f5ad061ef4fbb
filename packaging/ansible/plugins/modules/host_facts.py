#!/usr/bin/python
# Copyright: The rocmcfg authors
# GNU General Public License v3.0+ (LICENSES/GPL-3.0-or-later.txt, https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

DOCUMENTATION = r"""
module: host_facts
short_description: Gather a host's AMD GPUs, kernels, ROCm, boot chain and parameters in effect
version_added: 0.1.0
description:
  - Sets the fact C(ansible_facts.rocmcfg).
  - A host without rocmcfg, or without an AMD GPU, is not a failure, so the module can run on a mixed group.
    A rocmcfg whose answer cannot be read, because it is too old, too new or damaged, is a failure.
  - Needs no rights beyond those of the login user.
extends_documentation_fragment:
  - rocmcfg.amdgpu.host
attributes:
  check_mode:
    support: full
    details: It never changes anything.
  diff_mode:
    support: none
  idempotent:
    support: full
author:
  - The rocmcfg authors (@rocmcfg)
"""

EXAMPLES = r"""
- name: Look at the host
  rocmcfg.amdgpu.host_facts:

- name: Apply the profile only where there is a GPU that has one
  rocmcfg.amdgpu.profile:
    profiles: "{{ ansible_facts.rocmcfg.suggested_profiles }}"
  become: true
  when: ansible_facts.rocmcfg.suggested_profiles | length > 0
"""

RETURN = r"""
ansible_facts:
  description: What is added to the facts of the host.
  returned: success
  type: dict
  contains:
    rocmcfg:
      description:
        All facts. If rocmcfg is not installed, C(installed) and C(reboot_required) are false,
        lists are empty and the rest is null.
      type: dict
      returned: success
      contains:
        installed:
          description: Whether there is a rocmcfg on the host. If not, nothing below was examined.
          type: bool
        version:
          description: Its version.
          type: str
        executable:
          description: Where it is.
          type: str
        os:
          description: The operating system, with C(id), C(name) and C(version).
          type: dict
        running_kernel:
          description: The release of the running kernel.
          type: str
        kernels:
          description: The installed kernels, with C(release), C(version), C(driver), C(dkms) and C(running).
          type: list
          elements: dict
        gpus:
          description:
            - The AMD GPUs, with C(gfx), C(name), C(source), C(pci_id), C(address), C(node) and C(integrated).
          type: list
          elements: dict
        rocm:
          description: The version of the system's ROCm.
          type: str
        pytorch:
          description: PyTorch installations for all users, with C(version), C(rocm) and C(path).
          type: list
          elements: dict
        memory:
          description: The memory of the host in bytes.
          type: int
        boot_chain:
          description:
            - How it boots, with C(loader), C(supported), C(evidence), C(candidates), C(initramfs) and
              C(secure_boot).
          type: dict
        container:
          description: The kind of container; empty for a host that is not a container.
          type: str
        profiles:
          description: The profiles in force.
          type: list
          elements: str
        transaction:
          description: The number of the transaction in force.
          type: int
        status:
          description: One of V(in_effect), V(pending), V(differences), V(nothing_applied).
          type: str
        reboot_required:
          description: Whether what is applied waits for a reboot.
          type: bool
        suggested_profiles:
          description: What the profile V(auto) selects on this host.
          type: list
          elements: str
        parameters:
          description:
            - The parameters that have been set, with C(name), C(next_boot), C(source), C(running) and
              C(overridden).
          type: list
          elements: dict
        issues:
          description: The known issues that affect this host, by their names.
          type: list
          elements: str
        unnecessary:
          description: What is applied but no longer needed, with C(setting), C(reason) and C(command).
          type: list
          elements: dict
        trial:
          description:
            - The trial on record, or null, with C(transaction), C(profiles), C(settings), C(arguments),
              C(confirm_after), C(health_check), C(until) when it confirms itself, and C(withheld), a list of
              reasons why it did not.
            - C(stage) is V(armed) before its boot, V(running) in it, and V(over) after it.
          type: dict
diagnostics:
  description: The diagnostics of rocmcfg, each with C(id), C(severity), C(summary), C(detail), C(location)
    and C(hint).
  returned: failure, unless Ansible itself refuses the options
  type: list
  elements: dict
version:
  description: The version of the rocmcfg that was used.
  returned: failure, unless rocmcfg was not run
  type: str
  sample: 0.1.0
executable:
  description: Where it is.
  returned: failure, unless rocmcfg was not run
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
    refuse_old_python,
)


def main():
    module = AnsibleModule(argument_spec=dict(HOST_OPTIONS), supports_check_mode=True)
    refuse_old_python(module)
    program = Program.of(module, required=False)
    if program is None:
        facts = answer.facts(None, None, None)
    else:
        found = program.ask(["status"] + request.host_arguments(module.params, chroot=False))
        facts = answer.facts(found, program.version, program.path)
    module.exit_json(changed=False, ansible_facts={"rocmcfg": facts})


if __name__ == "__main__":
    main()
