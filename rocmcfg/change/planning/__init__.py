"""From what somebody asks for to a plan, which is a value: resolve it, then what is ours to write. Pure."""
