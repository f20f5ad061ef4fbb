"""Every kind of file: what is found stands where it is said to stand, and nothing else is found."""

from __future__ import annotations

import pytest

from rocmcfg.advice.lint.kinds import FileKind
from tests.lint.judging import judged

# file name, kind, text, [(line, column, token, class)]; the tokens are the same few so that readers compare
GFXOFF = "unknown"
CASES: dict[str, tuple[str, FileKind, str, list[tuple[int, int, str, str]]]] = {
    "grub defaults": (
        "/etc/default/grub",
        FileKind.GRUB_DEFAULTS,
        "GRUB_TIMEOUT=5\n#GRUB_CMDLINE_LINUX=\"amdgpu.gfxoff=0\"\n"
        "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet \\\n  amdgpu.gfxoff=0 root=/dev/x\"\n"
        "GRUB_CMDLINE_XEN=\"iommu=verbose amd_iommu=pt\"\nGRUB_CMDLINE_LINUX+=' amd_iommu=pt'\n",
        [(4, 3, "amdgpu.gfxoff=0", GFXOFF), (6, 23, "amd_iommu=pt", "misspelt")],
    ),
    "grub defaults in a drop-in with CRLF": (
        "x/etc/default/grub.d/50.cfg",
        FileKind.GRUB_DEFAULTS,
        "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT\tamdgpu.gfxoff=0\"\r\n",
        [(1, 57, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "grub.cfg": (
        "/boot/grub/grub.cfg",
        FileKind.GRUB_CFG,
        "menuentry 'Debian' {\n\tlinux\t/boot/vmlinuz-6.12 root=UUID=1 ro amdgpu.gfxoff=0\n\tinitrd /i\n}\n",
        [(2, 42, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "titles of GRUB": (
        "/boot/grub/grub.cfg",
        FileKind.GRUB_CFG,
        'menuentry "Arch, amdgpu.gfxoff=0 nomodeset" {\necho "Loading amdgpu.gfxoff=0"\n'
        "linux /vmlinuz amdgpu.gfxoff=0\n}\n",
        [(3, 16, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "boot entry": (
        "/boot/loader/entries/a.conf",
        FileKind.BOOT_ENTRY,
        "title Arch\nlinux /vmlinuz\noptions root=/dev/x rw amdgpu.gfxoff=0\noptions amd_iommu=pt\n",
        [(3, 24, "amdgpu.gfxoff=0", GFXOFF), (4, 9, "amd_iommu=pt", "misspelt")],
    ),
    "command line": (
        "/proc/cmdline",
        FileKind.CMDLINE,
        "BOOT_IMAGE=/v root=/dev/x amdgpu.gfxoff=0 -- amd_iommu=pt amdgpu.noretry=0\n",
        [(1, 27, "amdgpu.gfxoff=0", GFXOFF), (1, 59, "amdgpu.noretry=0", "inverted")],
    ),
    "a quoted value": (
        "cmdline",
        FileKind.CMDLINE,
        'quiet "amdgpu.gfxoff=0" dyndbg="file x +p" amdgpu.noretry="0"\n',
        [(1, 7, '"amdgpu.gfxoff=0"', GFXOFF), (1, 44, 'amdgpu.noretry="0"', "inverted")],
    ),
    "modprobe.d": (
        "/etc/modprobe.d/amdgpu.conf",
        FileKind.MODPROBE,
        "# options amdgpu gfxoff=0\noptions nvidia gfxoff=0\noptions amdgpu runpm=0 \\\n gfxoff=0\n"
        "option amdgpu noretry=0\noptions amdgpu.runpm=0\noptions amdgpu aspm=1 # why\n",
        [
            (4, 2, "gfxoff=0", GFXOFF),
            (5, 1, "option", "syntax"),
            (5, 15, "noretry=0", "inverted"),
            (6, 9, "amdgpu.runpm=0", "syntax"),
            (7, 23, "# why", "syntax"),
        ],
    ),
    "environment.d": (
        "/etc/environment.d/50.conf",
        FileKind.ENVIRONMENT_D,
        "PATH=/bin\n# TORCH_USE_HIPBLASLT=1\nTORCH_USE_HIPBLASLT=1\nPYTORCH_NO_HIP_MEMORY_CACHING='0'\n",
        [
            (3, 1, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (4, 1, "PYTORCH_NO_HIP_MEMORY_CACHING='0'", "presence_only"),
        ],
    ),
    "what a process has": (
        "/proc/12/environ",
        FileKind.ENVIRONMENT,
        "PATH=/bin\nTORCH_USE_HIPBLASLT=1\n",
        [(2, 1, "TORCH_USE_HIPBLASLT=1", "unknown")],
    ),
    "script": (
        "a.sh",
        FileKind.SHELL,
        "#!/bin/sh\n# export TORCH_USE_HIPBLASLT=0\nexport A=1 TORCH_USE_HIPBLASLT=\"0\"  # x\n"
        "MIOPEN_DEBUG_CONV_GEMM=0 TORCH_USE_HIPBLASLT=0 \\\n  python x.py\nenv -i TORCH_USE_HIPBLASLT=1 x\n"
        "unset TORCH_USE_HIPBLASLT\ngrep amdgpu.gfxoff=0 /proc/cmdline\n",
        [
            (3, 12, 'TORCH_USE_HIPBLASLT="0"', "unknown"),
            (4, 26, "TORCH_USE_HIPBLASLT=0", "unknown"),
            (6, 8, "TORCH_USE_HIPBLASLT=1", "unknown"),
        ],
    ),
    "fish": (
        "x.fish",
        FileKind.SHELL,
        "set -gx A 1; set -Ux MIOPEN_DEBUG_CONV_GEMM 2\nset -l TORCH_USE_HIPBLASLT 0\n"
        "set --export TORCH_USE_HIPBLASLT \"1\"\nset -x PYTORCH_ROCM_ARCH gfx1100 gfx1101\n",
        [
            (1, 22, "MIOPEN_DEBUG_CONV_GEMM 2", "illegal_value"),
            (3, 14, 'TORCH_USE_HIPBLASLT "1"', "unknown"),
            (4, 8, "PYTORCH_ROCM_ARCH gfx1100 gfx1101", "build_only"),
        ],
    ),
    "files that a script writes": (
        "a.sh",
        FileKind.SHELL,
        "cat <<'EOF' | sudo tee /etc/modprobe.d/x.conf\noptions amdgpu gfxoff=0\nEOF\n"
        "echo \"options amdgpu gfxoff=0\" > /etc/modprobe.d/y.conf\n"
        "sed -i 's/\\(CMDLINE.*\\)\"/\\1 amdgpu.gfxoff=0\"/' /etc/default/grub\n"
        "sed -i 's/amdgpu.gfxoff=0//' /etc/default/grub\n"
        "grubby --args='amdgpu.gfxoff=0' --remove-args=amdgpu.gfxoff=0\n"
        "echo 1 > /sys/module/amdgpu/parameters/cwsr_enable\nmodprobe amdgpu gfxoff=0\n",
        [
            (2, 16, "gfxoff=0", GFXOFF),
            (4, 22, "gfxoff=0", GFXOFF),
            (5, 29, "amdgpu.gfxoff=0", GFXOFF),
            (7, 16, "amdgpu.gfxoff=0", GFXOFF),
            (8, 10, "/sys/module/amdgpu/parameters/cwsr_enable", "read_only"),  # RC7119
            (8, 10, "/sys/module/amdgpu/parameters/cwsr_enable", "default"),
            (9, 17, "gfxoff=0", GFXOFF),
        ],
    ),
    "Dockerfile": (
        "Dockerfile",
        FileKind.DOCKERFILE,
        "FROM rocm\nARG TORCH_USE_HIPBLASLT=1\nENV A=b \\\n  # no\n  TORCH_USE_HIPBLASLT=1\n"
        "ENV TORCH_USE_HIPBLASLT 0\nRUN PYTORCH_ROCM_ARCH=gfx1030 python setup.py install\n"
        "RUN docker run -e TORCH_USE_HIPBLASLT=1 x\n",
        [
            (5, 3, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (6, 5, "TORCH_USE_HIPBLASLT 0", "unknown"),
            (8, 19, "TORCH_USE_HIPBLASLT=1", "unknown"),
        ],
    ),
    "compose": (
        "compose.yaml",
        FileKind.YAML,
        "services:\n  a:\n    environment:\n      - \"TORCH_USE_HIPBLASLT=1\"\n      - A=b\n"
        "  b:\n    environment:\n      TORCH_USE_HIPBLASLT: '0'  # why\n",
        [
            (4, 10, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (8, 7, "TORCH_USE_HIPBLASLT: '0'", "unknown"),
        ],
    ),
    "YAML in braces": (
        "compose.yaml",
        FileKind.YAML,
        "a:\n  environment: {A: b, TORCH_USE_HIPBLASLT: '1', HSA_ENABLE_SMDA: 0}\n"
        "  x: {{ HSA_ENABLE_SMDA }}\n"
        "  build: {args: {PYTORCH_ROCM_ARCH: a}}\n",
        [
            (2, 23, "TORCH_USE_HIPBLASLT: '1'", "unknown"),
            (2, 49, "HSA_ENABLE_SMDA: 0", "misspelt"),
        ],
    ),
    "Kubernetes": (
        "pod.yaml",
        FileKind.YAML,
        "env:\n- name: TORCH_USE_HIPBLASLT\n  value: \"0\"\n"
        "- name: HSA_ENABLE_SMDA\n  valueFrom: x\n#- name: HSA_ENABLE_SMDA\n#  value: x\n",
        [(2, 9, 'TORCH_USE_HIPBLASLT\n  value: "0"', "unknown")],
    ),
    "arguments of a build": (
        "compose.yaml",
        FileKind.YAML,
        "a:\n  build:\n    args:\n    - PYTORCH_ROCM_ARCH=a\n    # c\n    - AMDGPU_TARGETS=gfx1201\n"
        "    context: .\n"
        "  environment:\n    - PYTORCH_ROCM_ARCH=a\n"
        "b:\n  build:\n    args:\n      PYTORCH_ROCM_ARCH: a\n  environment:\n    PYTORCH_ROCM_ARCH: a\n",
        [
            (9, 7, "PYTORCH_ROCM_ARCH=a", "build_only"),
            (15, 5, "PYTORCH_ROCM_ARCH: a", "build_only"),
        ],
    ),
    "unit": (
        "/etc/systemd/system/a.service",
        FileKind.UNIT,
        "[Service]\nEnvironment=\"TORCH_USE_HIPBLASLT=1\" A=b \\\n  TORCH_USE_HIPBLASLT=1\n#Environment=A=1\n"
        "ExecStart=/usr/bin/env TORCH_USE_HIPBLASLT=0 x\n",
        [
            (2, 14, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (2, 14, "TORCH_USE_HIPBLASLT=1", "duplicate"),
            (3, 3, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (5, 24, "TORCH_USE_HIPBLASLT=0", "unknown"),
        ],
    ),
    "modprobe.d with backslashes, as kmod drops them": (
        "/etc/modprobe.d/a.conf",
        FileKind.MODPROBE,
        "options amdgpu \\gfxoff=\\0 sg_di\\\nsplay=\\2\n",
        [(1, 17, "gfxoff=\\0", GFXOFF), (1, 27, "sg_di\\\nsplay=\\2", "illegal_value")],
    ),
    "rows of rEFInd, with its quotes": (
        "/boot/refind_linux.conf",
        FileKind.REFIND,
        '"a ""b""" "quiet amdgpu.gfxoff=""0"" x=""y z""" # amdgpu.gfxoff=1\n'
        '"c" "amdgpu.gfxoff=0 foo=""bar"\n',
        [
            (1, 18, 'amdgpu.gfxoff=""0""', GFXOFF),
            (2, 6, "amdgpu.gfxoff=0", GFXOFF),
            (2, 22, 'foo=""bar', "syntax"),
        ],
    ),
    "stanzas of rEFInd, in which the last line counts": (
        "/boot/EFI/refind/refind.conf",
        FileKind.REFIND,
        'menuentry "a" {\n  loader /vmlinuz\n  options "amdgpu.gfxoff=0"\n  options "quiet"\n'
        '  submenuentry "b" {\n    add_options "amdgpu.gfxoff=0"\n  }\n}\nmenuentry "c" {\n'
        '  options "amdgpu.gfxoff=0"\n}\n',
        [
            (3, 12, "amdgpu.gfxoff=0", GFXOFF),
            (3, 12, "amdgpu.gfxoff=0", "conflict"),
            (6, 18, "amdgpu.gfxoff=0", GFXOFF),
            (10, 12, "amdgpu.gfxoff=0", GFXOFF),
        ],
    ),
    "a line break where a program reads lines": (
        "/etc/sdboot-manage.conf",
        FileKind.GRUB_DEFAULTS,
        'LINUX_OPTIONS="quiet amdgpu.gfxoff=0 \\\n  amdgpu.gfxoff=0\n  amdgpu.gfxoff=0"\n',
        [
            (1, 22, "amdgpu.gfxoff=0", GFXOFF),
            (1, 22, "amdgpu.gfxoff=0", "duplicate"),
            (2, 3, "amdgpu.gfxoff=0", GFXOFF),
            (3, 1, "  amdgpu.gfxoff=0", "syntax"),
        ],
    ),
    "a line break in a line of limine-entry-tool": (
        "/etc/default/limine",
        FileKind.GRUB_DEFAULTS,
        'KERNEL_CMDLINE[default]+="quiet\namdgpu.gfxoff=0"\n',
        [(2, 1, "amdgpu.gfxoff=0", "syntax")],
    ),
    "quotes around several arguments": (
        "/etc/kernel/cmdline",
        FileKind.CMDLINE,
        '"quiet amdgpu.gfxoff=0" "dyndbg=file drm* +p" "amdgpu.runpm=7 7"\n',
        [(1, 1, '"quiet amdgpu.gfxoff=0"', "syntax"), (1, 47, '"amdgpu.runpm=7 7"', "illegal_value")],
    ),
    "a backslash at the end of a line of an entry": (
        "/boot/loader/entries/a.conf",
        FileKind.BOOT_ENTRY,
        "title a \\\noptions amdgpu.gfxoff=0 \\\nlinux /vmlinuz\n",
        [(2, 9, "amdgpu.gfxoff=0", GFXOFF), (2, 25, "\\", "syntax")],
    ),
    "an entry's options in single quotes": (
        "/boot/loader/entries/a.conf",
        FileKind.BOOT_ENTRY,
        "linux /vmlinuz\noptions 'quiet amdgpu.gfxoff=0'\n",
        [(2, 16, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "an argument of GRUB with quotes in quotes": (
        "/boot/grub/grub.cfg",
        FileKind.GRUB_CFG,
        "menuentry 'a' {\n\tlinux /vmlinuz 'amdgpu.runpm=\"7 7\"'\n}\n",
        [(2, 18, 'amdgpu.runpm="7 7"', "illegal_value")],
    ),
    "a unit as its manager reads it": (
        "a.service",
        FileKind.UNIT,
        "[Unit]\nEnvironment=TORCH_USE_HIPBLASLT=1\n[Service]\n"
        "Environment=A=1; TORCH_USE_HIPBLASLT=0;1 # TORCH_USE_HIPBLASLT=1\n"
        "Environment=A=b\\\nHSA_ENABLE_SMDA=1\nEnvironment='HSA_ENABLE_SMDA=0\n",
        [
            (2, 1, "Environment=TORCH_USE_HIPBLASLT=1", "syntax"),
            (4, 18, "TORCH_USE_HIPBLASLT=0;1", "unknown"),
            (4, 18, "TORCH_USE_HIPBLASLT=0;1", "conflict"),
            (4, 44, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (6, 1, "HSA_ENABLE_SMDA=1", "misspelt"),
            (7, 13, "'HSA_ENABLE_SMDA=0", "syntax"),
        ],
    ),
    "a list of a Dockerfile is no command": (
        "Dockerfile",
        FileKind.DOCKERFILE,
        "FROM a\nENV A=b;c TORCH_USE_HIPBLASLT=0;1 B=<x #c HSA_ENABLE_SMDA=1|2\n",
        [
            (2, 11, "TORCH_USE_HIPBLASLT=0;1", "unknown"),
            (2, 43, "HSA_ENABLE_SMDA=1|2", "misspelt"),
        ],
    ),
    "TuneD": (
        "/etc/tuned/amd/tuned.conf",
        FileKind.TUNED,
        "[modules]\namdgpu=+r, gfxoff=0 # gfxoff=1\n[bootloader]\n"
        "cmdline_a=+quiet amdgpu.gfxoff=0\ncmdline_b=-amdgpu.gfxoff=1\n",
        [(2, 12, "gfxoff=0", GFXOFF), (4, 18, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "parameters where AMD's GPU operator takes none": (
        "deviceconfig.yaml",
        FileKind.YAML,
        "apiVersion: amd.com/v1alpha1\nkind: DeviceConfig\nspec:\n  driver:\n    kernelModuleConfig:\n"
        "      loadArgs:\n        - --verbose\n        - noretry=1\n      parameters: [gfxoff=0]\n",
        [(8, 11, "noretry=1", "syntax"), (9, 20, "gfxoff=0", GFXOFF)],
    ),
    "parameters without a value in a list for a module": (
        "machine.yaml",
        FileKind.YAML,
        "machine:\n  kernel:\n    modules:\n      - name: amdgpu\n        parameters:\n"
        "          - noretry\n          - 'runpm' # cwsr_enable\n          - runpm: x\n",
        [(6, 13, "noretry", "illegal_value"), (7, 14, "runpm", "illegal_value")],
    ),
    "Python": (
        "a.py",
        FileKind.PYTHON,
        "import os\nx = 'ü'; os.environ['TORCH_USE_HIPBLASLT'] = \"1\"\n"
        "os.putenv('TORCH_USE_HIPBLASLT', '0')\n"
        "os.environ.update({'A': 'b', 'TORCH_USE_HIPBLASLT': '1'})\n"
        "# os.environ['TORCH_USE_HIPBLASLT'] = '1'\n"
        "TORCH_USE_HIPBLASLT = 1\nsubprocess.run(x, env={'TORCH_USE_HIPBLASLT': '1'})\n",
        [
            (2, 10, "os.environ['TORCH_USE_HIPBLASLT'] = \"1\"", "unknown"),
            (3, 1, "os.putenv('TORCH_USE_HIPBLASLT', '0')", "unknown"),
            (4, 30, "'TORCH_USE_HIPBLASLT': '1'", "unknown"),
            (7, 24, "'TORCH_USE_HIPBLASLT': '1'", "unknown"),
        ],
    ),
    "Python that is none": (
        "a.py",
        FileKind.PYTHON,
        "import os\nprint 'x'\nos.environ['TORCH_USE_HIPBLASLT'] = '1'\n",
        [(3, 1, "os.environ['TORCH_USE_HIPBLASLT'] = '1'", "unknown")],
    ),
    "Python that no parser reads": (
        "a.py",
        FileKind.PYTHON,
        "print 'x'\nelif b: os.environ['TORCH_USE_HIPBLASLT']='1'\n"
        "except: os.putenv('TORCH_USE_HIPBLASLT', '1')\n"
        "os.environ['TORCH_USE_HIPBLASLT']=\"0\"; print \"x\"\n"
        "x = [os.environ.setdefault('TORCH_USE_HIPBLASLT', '1'),\n"
        "with foo(os.putenv('TORCH_USE_HIPBLASLT', '1'))\n"
        "1. os.environ['TORCH_USE_HIPBLASLT'] = '1'\n+os.environ['TORCH_USE_HIPBLASLT'] = '1'\n"
        + ">>> " * 3000
        + "os.environ['TORCH_USE_HIPBLASLT']='1'\n",
        [
            (2, 9, "os.environ['TORCH_USE_HIPBLASLT']='1'", "unknown"),
            (3, 9, "os.putenv('TORCH_USE_HIPBLASLT', '1')", "unknown"),
            (4, 1, "os.environ['TORCH_USE_HIPBLASLT']=\"0\"", "unknown"),
            (5, 6, "os.environ.setdefault('TORCH_USE_HIPBLASLT', '1')", "unknown"),
            (6, 10, "os.putenv('TORCH_USE_HIPBLASLT', '1')", "unknown"),
            (7, 4, "os.environ['TORCH_USE_HIPBLASLT'] = '1'", "unknown"),
            (8, 2, "os.environ['TORCH_USE_HIPBLASLT'] = '1'", "unknown"),
            (9, 12001, "os.environ['TORCH_USE_HIPBLASLT']='1'", "unknown"),
        ],
    ),
    "Python that joins": (
        "a.py",
        FileKind.PYTHON,
        "import os\nos.environ.update(TORCH_USE_HIPBLASLT='0', A='b')\n"
        "os.environ |= {'TORCH_USE_HIPBLASLT': '0'}\nx = dict(os.environ, TORCH_USE_HIPBLASLT='1')\n"
        "y = os.environ | {'TORCH_USE_HIPBLASLT': '1'}\nz = dict(a, TORCH_USE_HIPBLASLT='1')\n",
        [
            (2, 19, "TORCH_USE_HIPBLASLT='0'", "unknown"),
            (3, 16, "'TORCH_USE_HIPBLASLT': '0'", "unknown"),
            (4, 22, "TORCH_USE_HIPBLASLT='1'", "unknown"),
            (5, 19, "'TORCH_USE_HIPBLASLT': '1'", "unknown"),
        ],
    ),
    "docker --env-file": (
        "env.list",
        FileKind.DOCKER_ENV,
        "A=b\nMIOPEN_DEBUG_CONV_GEMM='0'\nMIOPEN_DEBUG_CONV_FFT=0\n",
        [(2, 1, "MIOPEN_DEBUG_CONV_GEMM='0'", "illegal_value")],
    ),
    "continued lines of grub.cfg": (
        "grub.cfg",
        FileKind.GRUB_CFG,
        "menuentry 'x' {\n linux /vmlinuz root=x \\\n  amdgpu.gfxoff=0 \\\n  quiet\n}\n",
        [(3, 3, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "rEFInd": (
        "/boot/refind_linux.conf",
        FileKind.REFIND,
        "# \"no\" \"amdgpu.gfxoff=0\"\n\"Boot\"  \"ro amdgpu.gfxoff=0\"\n\"Other\" \"ro amdgpu.gfxoff=1\"\n",
        [(2, 13, "amdgpu.gfxoff=0", GFXOFF), (3, 13, "amdgpu.gfxoff=1", GFXOFF)],
    ),
    "Limine": (
        "/boot/limine.conf",
        FileKind.BOOT_ENTRY,
        "timeout: 3\n/Arch\n  comment: amdgpu.gfxoff=2\n  cmdline: ro amdgpu.gfxoff=0\n"
        "/Other\n  KERNEL_CMDLINE: amdgpu.gfxoff=1\n",
        [(4, 15, "amdgpu.gfxoff=0", GFXOFF), (6, 19, "amdgpu.gfxoff=1", GFXOFF)],
    ),
    "sdboot-manage": (
        "/etc/sdboot-manage.conf",
        FileKind.GRUB_DEFAULTS,
        "LINUX_OPTIONS=\"quiet amdgpu.gfxoff=0\"\n",
        [(1, 22, "amdgpu.gfxoff=0", GFXOFF)],
    ),
    "a script in a script": (
        "a.sh",
        FileKind.SHELL,
        "bash -c \"TORCH_USE_HIPBLASLT=0 python x\"\n",
        [(1, 10, "TORCH_USE_HIPBLASLT=0", "unknown")],
    ),
    "words whose blanks were lost": (
        "a.txt",
        FileKind.MARKDOWN,
        "It ran with A=1.TORCH_USE_HIPBLASLT=1was tried.\n",
        [(1, 17, "TORCH_USE_HIPBLASLT=1", "unknown")],
    ),
    "document": (
        "post.md",
        FileKind.MARKDOWN,
        "ü `amdgpu.gfxoff=0` and amdgpu.gfxoff=1, `noretry=0`.\n\n> ```sh\n> $ export TORCH_USE_HIPBLASLT=1\n"
        "> TORCH_USE_HIPBLASLT=1\n> ```\n\n```diff\n-amdgpu.gfxoff=0\n+amdgpu.gfxoff=0\n```\n"
        "```ini\nEnvironment='TORCH_USE_HIPBLASLT=1'\n```\n```\nCMD=\"quiet amdgpu.gfxoff=0\"\n```\n",
        [
            (1, 4, "amdgpu.gfxoff=0", GFXOFF),
            (1, 25, "amdgpu.gfxoff=1", GFXOFF),
            (1, 43, "noretry=0", "inverted"),
            (4, 12, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (10, 2, "amdgpu.gfxoff=0", GFXOFF),
            (13, 14, "TORCH_USE_HIPBLASLT=1", "unknown"),
            (16, 12, "amdgpu.gfxoff=0", GFXOFF),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_found_and_where(name: str) -> None:
    file, kind, text, expected = CASES[name]
    checked = judged(file, text)
    assert checked.kind is kind
    assert sorted((f.line, f.column, f.text, f.remark.kind) for f in checked.findings) == sorted(expected)


TELLING = (
    "grub defaults", "grub.cfg", "boot entry", "Dockerfile", "unit", "TuneD", "Python", "script", "document"
)  # fmt: skip


@pytest.mark.parametrize("name", TELLING)
def test_a_text_without_a_telling_name_is_read_by_its_content(name: str) -> None:
    """As on standard input."""
    _, kind, text, expected = CASES[name]
    checked = judged("-", text)
    assert checked.kind is kind
    assert {f.text for f in checked.findings} == {text for _, _, text, _ in expected}
