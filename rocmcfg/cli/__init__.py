"""The command line. `commands` lists the commands, `app` runs them, and `printer` alone prints."""
