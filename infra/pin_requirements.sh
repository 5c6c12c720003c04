#!/bin/sh
# Pins every requirement with its hashes, for all platforms and Pythons from 3.11. The widest set comes first and
# constrains the others, so that what is tested is what runs.
set -eu
cd "$(dirname "$0")/../requirements"
uv=${UV:-../.venv/bin/uv}
pin() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
        --no-annotate --no-strip-extras "$@"
}
unset PIP_FIND_LINKS PIP_INDEX_URL PIP_EXTRA_INDEX_URL
pin dev.in --output-file dev.txt
pin uv.in --constraints dev.txt --output-file uv.txt
pin run.in --constraints dev.txt --output-file run.txt
pin layer.in --constraints dev.txt --output-file layer.txt
pin emulator.in --output-file emulator.txt
