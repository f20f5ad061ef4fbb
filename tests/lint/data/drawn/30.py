import os
import sys

os.environ.setdefault('MIOPEN_FIND_ENFORCE', '3')       # SEARCH_DB_UPDATE
os.environ.setdefault('MIOPEN_FIND_MODE', '1')          # fast mode

import torch
