"""From what somebody asks for to a plan, which is a value: request, resolve, owned files, diff. Pure."""
