"""rocmcfg: a host configuration manager for amdgpu kernel parameters.

The map, for a reader who is new here:

    model      the nouns: profile, setting, facts, plan, change, activation, check, diagnostic
    languages  what sets variables: one reader per language, text in, assignments out
    knowledge  what we know: the catalogue (data/*.toml) and the profiles
    host       the only package that touches the operating system; reading and writing are two types
    facts      what is true of a host: kernels, GPUs, ROCm, operating system
    loaders    one folder per boot loader
    initramfs  one module per generator of initramfs images
    files      one module per kind of file besides: modprobe.d, variables, hooks
    records    what rocmcfg writes down about itself: journal and receipt
    state      how a host is: configured, running, and verified against the receipt
    judging    what the knowledge says of a setting on a machine
    change     what is done to a host:
      planning     request → resolve → plan; pure
      transaction  carries a plan out under a journal, and takes it back
      trial        one boot with other settings: planned, on record, watched, ended
      rendering    the same settings for systems that are built
    advice     what people are told:
      explain      what is known of one name
      lint         reads GRUB files, modprobe.d, scripts, Markdown … and judges what they set
      doctor       matches logs and host against the known issues
      report       what an issue tracker needs to know of a host, without what tells whose it is
    workflow   the use cases, as short functions: read this next
    cli        one file per command; `app` composes, and prints the version. `printer` prints what commands
               say, `help` the pages of --help, and `complete` what a shell completes

Three states, never two: desired (the profile, resolved), configured (the files, the next boot) and running
(the kernel now). Imports point one way: cli → workflow → trial → lint, doctor, report, explain, rendering →
transaction → planning → judging → state → records → initramfs, facts, knowledge → loaders → files →
host, languages → model.
"""

from __future__ import annotations

__version__ = "0.1.0"
