"""packaging/schema/profile.json, for editors: what `rocmcfg schema profile-file` prints."""

from __future__ import annotations

import json

from rocmcfg.knowledge.profile_json_schema import document


def page() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"
