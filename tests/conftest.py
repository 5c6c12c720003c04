"""For every suite: the tokenizer's vocabulary from the repository, so that no test reaches for the network."""

import os

from infra.vocabulary import unpack
from tests.services import ROOT

os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack(ROOT / "build" / "vocabulary"))
