"""Words that tell nothing of a host or its owner. They stay, and are learnt as nobody's name."""

from __future__ import annotations

# Names that many machines and accounts have. They tell nothing, and replacing them would garble the rest:
# a host called debian must not make "Debian" disappear.
TELLING_NOTHING = frozenset(
    """
    admin amd amdgpu app appuser arch archlinux avahi centos chrony coder colord computer cron daemon dbus
    debian default desktop docker fedora gdm geoclue gentoo git gpu guest home host jovyan kernel laptop
    lightdm linux linuxbrew live localdomain localhost manjaro messagebus mint mysql nixos nobody none null
    ollama opensuse pc polkitd postgres postgresql pulse python python3 radeon redis render rocky rocm root
    rtkit runner sddm server shared sshd sudo suse syslog system systemd systemd-network systemd-resolve
    systemd-timesync test tss ubuntu unknown user users uuidd video vllm vscode wheel worker workstation
    www-data
    """.split()  # noqa: SIM905  # a list of words reads better than a column of quotes
)
# Where a host's name would stand in a line of syslog, other logs have this.
LEVELS = frozenset(
    """
    alert crit critical debug dbg emerg err error exception fatal info information log notice panic severe
    trace verbose warn warning
    """.split()  # noqa: SIM905
)
# What a log of a GPU is made of. Somebody may be called so, and loses the name where it stands as one (in
# a home directory); taken out everywhere, it would take "page fault" with it.
ORDINARY = frozenset(
    """
    about access action active address all and any application args async auto backend batch block boot
    buffer build cache call client cluster code command compute config connection container context
    controller core cpu cuda current data debugger device disk display domain driver dtype engine env
    environment event exit failed failure fault file files firmware float for frame free from function
    generic gfx global graph graphics group handler head hip http https image index inference init input
    instance int internal job layer library line link list load local logger lora lost main manager
    mapped master max memory message method min mode model models module name network new node not
    object offline online open output page parser path pcie pid pipe plugin pool port power process
    processor program queue rank read ready reboot remote request reset response result ring run runtime
    scheduler script sdma self service session set shard shell source ssh stage start state status step
    stop storage stream string success table target task tensor the thread time timeout token tool torch
    train trainer training type unit update using value version virtual volume weight window with work
    workers write yes you your
    """.split()  # noqa: SIM905
)
# In the place of a secret: that there is none, or what stands for one.
NO_VALUE = frozenset(
    """
    absent accepted auto bytes changed default denied disabled does dummy empty enabled expired failed false
    given has hidden incorrect int invalid is mandatory masked missing must needed nil no none not null off
    ok on optional or prompt provided redacted removed required requested set should str string true type
    unchanged undefined unknown unset unused used valid was will with wrong yes your_api_key your_token
    """.split()  # noqa: SIM905
)
# Where reports link to, and where everybody's software comes from. Any other site is somebody's own.
PUBLIC_SITES = """
    amd.com anaconda.com anaconda.org anthropic.com apache.org archlinux.org arxiv.org bugzilla.kernel.org
    codeberg.org debian.org docker.com docker.io example.com fedoraproject.org freedesktop.org gentoo.org
    ghcr.io github.com github.io githubusercontent.com gitlab.com gitlab.freedesktop.org gnu.org
    googleapis.com hf.co huggingface.co json-schema.org kernel.org launchpad.net llvm.org lwn.net
    man7.org mozilla.org nixos.org npmjs.org nvidia.com openai.com opencompute.org opensuse.org pydantic.dev
    pypi.org pypi.python.org python.org pythonhosted.org pytorch.org quay.io radeon.com readthedocs.io
    redhat.com rpmfusion.org slack.com stackoverflow.com systemd.io telegram.org tensorflow.org ubuntu.com
    vllm.ai w3.org wandb.ai wikipedia.org
    """.split()  # noqa: SIM905


def is_public(site: str) -> bool:
    site = site.lower().rstrip(".")
    return any(site == public or site.endswith(f".{public}") for public in PUBLIC_SITES)


def is_nobody(name: str) -> bool:
    """Whether a name of a host or account tells nothing, wherever it stands."""
    lowered = name.lower().rstrip("$")
    return lowered in TELLING_NOTHING or lowered in LEVELS or not any(c.isalpha() for c in lowered)


def is_telling(name: str) -> bool:
    return not is_nobody(name) and name.lower() not in LEVELS


def is_telling_word(name: str) -> bool:
    return is_telling(name) and name.lower() not in ORDINARY and name.lower() not in NO_VALUE
