"""The node's parts: OpenSearch's jars and the k-NN plugin, copied by Maven into one folder, once.

The pom beside this file names them. The plugin is a zip and no jar, so it is fetched by its own goal and unpacked.
"""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

KNN_PLUGIN = "org.opensearch.plugin:opensearch-knn:2.19.1.0:zip"
"""The last of its line on Maven Central; it runs in core 2.19.6."""

_HERE = Path(__file__).parent
PARTS = _HERE.parents[2] / "build" / "opensearch"
"""50 MB that every node of this clone shares."""

_DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"


class NotPossible(Exception):
    """The node cannot be had on this machine, for a reason that one line says."""


class PartsMissing(NotPossible):
    """It cannot even be put together: a tool is missing, or Maven could not get an artifact."""


def missing_tools() -> list[str]:
    """What has to be installed first: of `java` and `mvn`, those that are not on the path."""
    return [tool for tool in ("java", "mvn") if shutil.which(tool) is None]


def assemble(folder: Path) -> Path:
    """`folder` with `lib` and `knn` in it, filled if they are not there yet.

    Raises:
        PartsMissing: Java or Maven is missing, or Maven could not get an artifact.
    """
    marker = folder / "assembled"
    wanted = f"{(_HERE / 'pom.xml').read_text()}\n{KNN_PLUGIN}\n"
    if marker.exists() and marker.read_text() == wanted:
        return folder
    if missing := missing_tools():
        raise PartsMissing(
            f"OpenSearch needs {' and '.join(missing)} (Java 17 or newer with its compiler, Maven 3.8 or newer)"
        )
    for part in ("lib", "knn", "downloads"):
        shutil.rmtree(folder / part, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    _maven(folder, f"{_DEPENDENCY_PLUGIN}:copy-dependencies", f"-DoutputDirectory={folder / 'lib'}")
    _maven(
        folder, f"{_DEPENDENCY_PLUGIN}:copy", f"-Dartifact={KNN_PLUGIN}", f"-DoutputDirectory={folder / 'downloads'}"
    )
    for archive in (folder / "downloads").glob("*.zip"):
        with zipfile.ZipFile(archive) as plugin:
            plugin.extractall(folder / "knn")
    shutil.rmtree(folder / "downloads")
    marker.write_text(wanted)
    return folder


def _maven(folder: Path, goal: str, *options: str) -> None:
    command = ["mvn", "-q", "-B", "-f", str(_HERE / "pom.xml"), goal, *options]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        reason = next((line for line in answer.stdout.splitlines() if "ERROR" in line), "no reason given")
        raise PartsMissing(f"Maven could not assemble OpenSearch: {reason.strip()}")
