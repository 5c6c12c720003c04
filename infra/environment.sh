#!/bin/sh
# Makes or updates a virtual environment from pinned requirements: environment.sh FOLDER REQUIREMENTS
# The first Python from 3.11 on, or the one in $PYTHON_FOR_VENV. uv does the work, ten times as fast as pip, which
# fetches it; where uv cannot (it does not read pip's own settings, such as a mirror), pip does.
set -eu

folder=$1
requirements=$2

fail() {
    echo "engram: $1" >&2
    exit 1
}

# What a person has set for pip must neither add packages nor take any away. A mirror they set stays.
unset PIP_FIND_LINKS PIP_TARGET PIP_PREFIX PIP_USER PIP_CONSTRAINT PIP_NO_DEPS PIP_NO_INDEX PIP_ONLY_BINARY \
    PIP_NO_BINARY PIP_REQUIREMENT UV_FIND_LINKS UV_CONSTRAINT UV_OVERRIDE UV_NO_INDEX PYTHONPATH PYTHONHOME VIRTUAL_ENV \
    2>/dev/null || true

new_enough() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' >/dev/null 2>&1
}

find_python() {
    for candidate in "${PYTHON_FOR_VENV:-}" python3 python3.13 python3.12 python3.11 python3.14 python; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 && new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

python=$(find_python)
if [ ! -x "$folder/bin/python" ]; then
    [ -n "$python" ] || fail "Python 3.11 or newer is needed, with its venv module"
    echo "making $folder with $("$python" --version) …"
    "$python" -m venv "$folder" || fail "the virtual environment $folder cannot be made"
fi

echo "installing $requirements …"
pip_install() {
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$1"
}

pip_install "$(dirname "$requirements")/uv.txt" || fail "uv could not be installed"
"$folder/bin/uv" pip install --quiet --require-hashes --python "$folder/bin/python" -r "$requirements" && exit 0
echo "uv could not install them; trying pip …" >&2
pip_install "$requirements" || fail "$requirements could not be installed"
