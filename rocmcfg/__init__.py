"""rocmcfg: a host configuration manager for amdgpu kernel parameters.

A map for new readers:

    model      the nouns: profile, setting, facts, plan, change, activation, check, diagnostic
    experiments  which run of a program comes next, and what the runs so far show; pure
    languages  one reader for each language that sets variables: from a text to its assignments
    knowledge  the catalogue (data/*.toml) and the profiles
    host       the only package that touches the operating system; reading and writing are two types
    facts      facts about a host: kernels, GPUs, ROCm, operating system
    loaders    one folder per boot loader
    initramfs  one module per generator of initramfs images
    files      one module per kind of file outside of boot loaders: modprobe.d, variables, hooks
    records    the records that rocmcfg keeps: journal and receipt
    state      the state of a host: configured, running, and verified against the receipt
    judging    verdicts on a setting on a machine, from the knowledge
    change     changes of a host:
      planning     request → resolve → plan; pure
      transaction  carries a plan out under a journal, and rolls it back
      trial        one boot with other settings: planned, on record, watched, ended
      rendering    the same settings for systems that are built
    advice     answers for people:
      explain      explains one name
      lint         reads GRUB files, modprobe.d, scripts, Markdown … and judges their settings
      doctor       matches logs and host against the known issues
      report       describes a host for an issue tracker, without names, addresses and secrets
      gate         answers monitors and schedulers, which ask whether jobs may run
      fleet        shows many hosts at once, from their JSON documents
    workflow   the use cases, as short functions: read this next
    cli        one file per command; `app` composes, and prints the version. `printer` prints the output of
               commands, `help` the pages of --help, and `complete` the words that a shell completes

Three states, never two: desired (the profile, resolved), configured (the files, the next boot) and running
(the kernel now). Imports point one way: cli → workflow → trial → lint, doctor, report, explain, gate, fleet,
rendering → transaction → planning → judging → state → records → initramfs, facts, knowledge → loaders →
files → host, languages, experiments → model.
"""

from __future__ import annotations

__version__ = "0.1.0"
__url__ = "https://rocmcfg.invalid/rocmcfg"
