"""bash, in which mkinitcpio reads mkinitcpio.conf and then mkinitcpio.conf.d: whether HOOKS has modconf,
without which no image has /etc/modprobe.d."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from rocmcfg.initramfs.mkinitcpio import GENERATOR
from tests.initramfs.images import host, image
from tests.peers import debian
from tests.peers.judgement import CANNOT_TELL, Answer
from tests.peers.programs import words
from tests.peers.programs.program import Files, Program, Sample
from tests.support.hosts import File

_FILE, _DROP_IN = "etc/mkinitcpio.conf", "etc/mkinitcpio.conf.d/10-local.conf"
_HOOKS = (
    "base",
    "udev",
    "systemd",
    "autodetect",
    "microcode",
    "kms",
    "keyboard",
    "block",
    "filesystems",
    "fsck",
)
_PRESET = 'ALL_kver="/boot/vmlinuz-linux"\nPRESETS=(\'default\')\ndefault_image="/boot/initramfs-linux.img"\n'
# mkinitcpio (v39): `. "$_f_config"`, then each file of the folder, in an order by version; then
# arrayize_config of its functions, which divides a string at its blanks.
_SCRIPT = """
for d in in/*; do
  bash -c 'cd "$1/etc"; for f in mkinitcpio.conf mkinitcpio.conf.d/*.conf; do [ ! -e "$f" ] || . "./$f"; done
    [[ ${HOOKS@a} == *a* ]] || IFS=" " read -r -a HOOKS <<<"$HOOKS"
    for hook in "${HOOKS[@]}"; do [ "$hook" != modconf ] || { echo yes; exit; }; done; echo no
  ' bash "$d" >"out/${d#in/}" 2>/dev/null </dev/null || true
done
"""


def _hooks(random: Random) -> str:
    words = random.sample(_HOOKS, random.randint(2, 6))
    if random.random() < 0.7:
        words.insert(random.randint(0, len(words)), "modconf")
    return " ".join(words)


def _ordinary(random: Random) -> Files:
    lines = [
        random.choice(("MODULES=()", "MODULES=(amdgpu)", "# MODULES=(radeon)")),
        "BINARIES=()",
        "FILES=()",
        random.choice(("#    HOOKS=(base)", "##   This setup loads modconf", "")),
        f"HOOKS=({_hooks(random)})",
        random.choice(("", 'COMPRESSION="zstd"', "COMPRESSION_OPTIONS=(-9)")),
    ]
    files = {_FILE: "\n".join(lines) + "\n"}
    if random.random() < 0.3:
        files[_DROP_IN] = random.choice(
            (f"HOOKS=({_hooks(random)})\n", "MODULES+=(amdgpu)\n", "HOOKS+=(modconf)\n")
        )
    return files


def _with(*texts: str) -> words.Made:
    """`{h}` and `{i}` are lists of hooks."""

    def made(random: Random) -> Files:
        return {
            _FILE: random.choice(texts).replace("{h}", _hooks(random)).replace("{i}", _hooks(random)) + "\n"
        }

    return made


def theirs(samples: Sequence[Sample], folder: Path) -> list[Answer]:
    files = {
        f"in/{n}/{path}": text for n, sample in enumerate(samples) for path, text in sample.files.items()
    }
    out = debian.run(folder, _SCRIPT, files) / "out"
    return [{"modconf": (out / str(number)).read_text().strip() or None} for number in range(len(samples))]


def ours(sample: Sample, folder: Path) -> Answer:
    tree: dict[str, File] = {
        "etc/mkinitcpio.d/linux.preset": _PRESET,
        "boot/initramfs-linux.img": image(),
        **sample.files,
    }
    view = host(folder, tree)
    found = [*GENERATOR.preflight(view, GENERATOR.images(view))]
    if [problem.id for problem in found] == ["RC3206"]:
        return {"modconf": "no"}
    return {"modconf": CANNOT_TELL if found else "yes"}


PROGRAM = Program(
    name="bash",
    package="bash",
    reads="mkinitcpio.conf",
    ordinary=_ordinary,
    odd={
        "a comment in the list": _with(
            "HOOKS=(base # modconf\n  udev)", "HOOKS=({h} #x\n  kms)", "HOOKS=({h}) # modconf"
        ),
        "a condition": _with(
            "HOOKS=({h})\nif true; then HOOKS=({i}); fi", "HOOKS=({h})\nif false; then\n  HOOKS=({i})\nfi"
        ),
        "a declaration": _with(
            "declare -a HOOKS=({h})", "export HOOKS=({h})", "local HOOKS=({h})", "readonly HOOKS=({h})"
        ),
        "a list of another": _with(
            'X=({h})\nHOOKS=("${X[@]}")', "HOOKS=({h})\nHOOKS=(${HOOKS[@]/modconf/kms})"
        ),
        "a place of the list": _with("HOOKS=({h})\nHOOKS[0]=modconf", "HOOKS=({h})\nunset 'HOOKS[1]'"),
        "a string": _with('HOOKS="{h}"', "HOOKS='{h}'"),
        "a string over a list": _with('HOOKS=({h})\nHOOKS="{i}"'),
        "a string, added": _with('HOOKS=({h})\nHOOKS+=" modconf"', 'HOOKS="{h}"\nHOOKS+=(modconf)'),
        "another list, added": _with("HOOKS=({h})\nHOOKS+=({i})", "HOOKS+=({h})"),
        "braces": _with("HOOKS=(base {modconf,kms})", "HOOKS=({base,udev} {h})"),
        "hooks in quotes": _with(
            "HOOKS=(\"base\" 'modconf' {h})", 'HOOKS=("base modconf")', "HOOKS=(mod\\conf)"
        ),
        "many lines": _with("HOOKS=(\n  base\n  {h}\n)", "HOOKS=({h} \\\n  {i})", "\n\nHOOKS=(\n{h})"),
        "none": _with("HOOKS=()", "HOOKS=", "#HOOKS=({h})"),
        "taken away again": _with("HOOKS=({h})\nunset HOOKS", "HOOKS=({h}); HOOKS=({i})"),
        "the same twice": _with("HOOKS=({h})\nHOOKS=({i})"),
        "what a command prints": _with("HOOKS=($(echo {h}))", "HOOKS=(`echo {h}`)", "eval 'HOOKS=({h})'"),
        "blanks": _with("  HOOKS=( {h} )  ", "HOOKS=({h})\t", "HOOKS = ({h})"),
        "within another text": _with(
            "X='\nHOOKS=({h})\n'", "cat <<E\nHOOKS=({h})\nE", "f() {\n  HOOKS=({h})\n}"
        ),
    },
    theirs=theirs,
    ours=ours,
)
