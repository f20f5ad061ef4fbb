"""The command line: one file per command. `app` composes, `render` is the only printer."""
