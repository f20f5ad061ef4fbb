# a placeholder
