"""What a key says of its value: a secret, a serial, a name, or nothing that matters.

Programs spell keys in every way (`X-Api-Key`, `apiKey`, `OPENAI_API_KEY`, `--hf-token`, `private_key_id`), so
that they are judged by their words, and mostly by the last one.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+")
_LONGEST = 80  # characters of a key that are looked at, from its end


class Meaning(NamedTuple):
    """`sure`: any value counts, and not only one that looks the part and has `least` characters."""

    kind: str
    sure: bool
    least: int = 4


# Of a line none of these stands in, no key means anything; looked for first because it is cheap.
LIKELY = re.compile(
    "pass|pwd|passwd|pw\\b|secret|token|key|auth|cookie|cred|psk|sig|session|sid|jwt|otp|csrf|serial|s/n|sn\\b|tag"
    "|guid|uuid|unique|hive|wwn|wwid|eui|imei|imsi|iccid|meid|machine|boot_?id|user|login|logname|acct|owner"
    "|host|node|fqdn|computer|master|domain|label|gecos|name|kennwort|vg|list"
)
_SECRET = frozenset("jwt kennwort otp pass passcode passkey passwort psk pw pwd webhook".split())  # noqa: SIM905
_SECRET_ENDS = tuple(
    """
    accesskey apikey apikeys authkey authtoken authorization cookie cookies credential credentials passphrase
    passwd passwds password passwords privatekey secret secretkey secrets sharedkey
    """.split()  # noqa: SIM905
)
# whose key: `api_key`, but `cache_key` and "missing key: x" are no secrets
_KEYS_OF = frozenset(
    """
    access account anthropic api app application auth aws azure client cohere comet consumer deepseek deploy
    encryption fernet gemini google groq hf host integration jwt keyring licence license master mistral
    mailgun openai openrouter preshared private recovery routing secret security sendgrid server service
    session shared signing ssh sso storage stripe subscription tailscale together twilio wandb webhook wep wg
    wpa
    """.split()  # noqa: SIM905
)
_TOKENS_OF_TEXT = frozenset(
    """
    and audio bad begin bos cls decode delimiter end eos first image input last mask missing next output pad
    per placeholder prompt sampled sep separator special start stop unexpected unk video
    """.split()  # noqa: SIM905
)
_TOKENS_OF = frozenset(
    "access api app auth bearer bot deploy gh git github gitlab hf hub identity oauth private refresh".split()  # noqa: SIM905
)
_MAYBE = frozenset("auth bearer csrf csrftoken nonce session sessionid sid sig signature xsrf".split())  # noqa: SIM905
# behind the word that counts: `access_key_id`, `SECRET_KEY_BASE`, `password2`
_SUFFIXES = frozenset(
    "b64 base base64 current env header hex id new old plain plaintext prod raw string text value".split()  # noqa: SIM905
)
_SERIALS = frozenset("eui guid iccid imei imsi meid nguid serial serialno serialnumber wwid wwn".split())  # noqa: SIM905
_USERS = frozenset(
    "acct login loginname logname luser owner ruser sudouser user userid username".split()  # noqa: SIM905
)
_HOSTS = frozenset("fqdn hostname nodename computername workstation".split())  # noqa: SIM905
_PAIRS = {
    **dict.fromkeys(
        ("serial number", "serial no", "serial num", "serial id", "serial short"), Meaning("serial", True)
    ),
    **dict.fromkeys(("asset tag", "service tag", "unique id", "hive id", "s n"), Meaning("serial", True)),
    **dict.fromkeys(("node guid", "image guid"), Meaning("serial", True)),
    **dict.fromkeys(("machine id", "boot id", "session uuid", "invocation id"), Meaning("id", True)),
    **dict.fromkeys(("user name", "user id", "sudo user", "job user", "login name"), Meaning("user", True)),
    **dict.fromkeys(("host name", "node name", "computer name", "domain name"), Meaning("host", True)),
    **dict.fromkeys(
        ("master addr", "submit host", "node list", "http host", "rdzv endpoint", "server address"),
        Meaning("host", True),
    ),
    **dict.fromkeys(("vg name", "lv name", "pool name"), Meaning("volume", True)),
    **dict.fromkeys(
        ("real name", "full name", "pretty name", "author name", "committer name"), Meaning("name", True)
    ),
}


@functools.lru_cache(maxsize=4096)
def meaning(key: str) -> Meaning | None:
    words = [word.lower() for word in _WORDS.findall(key[-_LONGEST:])]
    if not words or "serial8250" in key:
        return None
    of_system = _of_the_system(key, words)
    if of_system is not None:
        return of_system
    while len(words) > 1 and words[-1] in _SUFFIXES:
        words.pop()
    # an option or a variable is nobody's count of tokens
    return _secret(words, as_setting=key.startswith("--") or (key.isupper() and "_" in key))


def _secret(words: list[str], *, as_setting: bool) -> Meaning | None:
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if last in _SECRET or last.endswith(_SECRET_ENDS):
        return Meaning("secret", True)
    if last in ("key", "keys") or (last.endswith("key") and last[:-3] in _KEYS_OF):
        return Meaning("secret", before in _KEYS_OF or last not in ("key", "keys"), 16)
    if last.endswith(("token", "authtok")):
        sure = as_setting or before in _TOKENS_OF
        return None if before in _TOKENS_OF_TEXT else Meaning("secret", sure)
    if last in _MAYBE:
        return Meaning("secret", False)
    return None


def _of_the_system(key: str, words: list[str]) -> Meaning | None:
    last = words[-1]
    pair = _PAIRS.get(" ".join(words[-2:]))
    if pair is not None:
        return pair
    if last in _SERIALS or (key.upper() == "SN"):
        return Meaning("serial", True)
    if last in _USERS:
        return Meaning("user", key not in ("user", "User", "login", "owner"))
    if last in _HOSTS:
        return Meaning("host", True)
    if key.lower() in ("host", "rhost", "nodelist"):
        return Meaning("host", False)
    if last in ("ssid", "bssid", "essid"):
        return Meaning("network", True)
    if key.endswith(("LABEL", "PARTLABEL", "ID_PART_ENTRY_NAME")):
        return Meaning("label", True)
    if key.endswith("UUID") or last in ("partuuid", "ptuuid", "fsid"):
        return Meaning("uuid", True)
    return Meaning("name", True) if last in ("gecos", "realname", "fullname") else None
