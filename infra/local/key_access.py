"""Where API keys are made from the command line: this machine's table, or a deployed stack's."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from infra.local.folder import Folder, Refused

if TYPE_CHECKING:
    from engram.access.api_keys import ApiKeys


def keys_of_folder(folder: Folder) -> ApiKeys:
    """Keys of the installation in `folder`, running or not. A running service sees a new key at once."""
    from infra.local.embedded import EmbeddedStack

    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.environment_file.exists():
        return _keys(json.loads(folder.environment_file.read_text()))
    return _keys(EmbeddedStack(folder).environment)


def keys_of_stack(name: str) -> ApiKeys:
    """Keys of a stack that was deployed from the template; needs credentials for its table and its pepper.

    Raises:
        Refused: there is no such stack, or it lacks the outputs.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from engram.settings import FIELDS

    try:
        client = boto3.client("cloudformation")
        stack: Any = client.describe_stacks(StackName=name)["Stacks"][0]
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        environment = {
            FIELDS["stack"]: "aws",
            FIELDS["region"]: client.meta.region_name,
            FIELDS["table"]: outputs["TableName"],
            FIELDS["pepper_secret"]: outputs["PepperSecret"],
        }
    except (BotoCoreError, ClientError, KeyError) as error:
        raise Refused(f"the stack {name} cannot be read ({type(error).__name__})") from None
    return _keys(environment)


def _keys(environment: dict[str, str]) -> ApiKeys:
    os.environ.update(environment)
    from engram.bootstrap import services

    return services().api_keys
