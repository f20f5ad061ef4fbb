"""Boot loaders alone: OVMF, the loader and what it starts, without Linux. A boot takes seconds, so that the
rules of trials are shown on each version of a loader."""
