"""What the template promises: encrypted, private, retained, bounded, and no more allowed than is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram.adapters.dynamodb import INDEX_NAME
from engram.api.queue import MAX_RECEIVES
from engram.settings import FIELDS

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = [ROOT / "template.yaml", *sorted((ROOT / "infra").glob("*.yaml"))]


def of_type(document: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {name: spec for name, spec in document["Resources"].items() if spec["Type"] == kind}


def test_cfn_lint_has_nothing_to_say():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), *map(str, TEMPLATES)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_there_is_one_folder_for_each_of_the_seven_functions(functions):
    folders = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))
    assert folders == sorted(spec["CodeUri"].strip("/").removeprefix("functions/") for spec in functions.values())
    assert len(folders) == 7


class TestEnvironment:
    ONE_MACHINE = frozenset({"data_dir", "endpoint_url", "pepper", "model_api_key"})
    """Settings that only one machine has: a folder, an emulator, secrets that are no AWS secrets."""

    DEFAULTS = frozenset("conversation_gap_seconds deadline_ms sweep_after_seconds".split())
    """Settings that the template leaves at their default."""

    def test_every_variable_is_a_setting(self, written):
        given = written["Globals"]["Function"]["Environment"]["Variables"]
        ours = {name for name in given if name.startswith("ENGRAM_")}
        assert ours - set(FIELDS.values()) == set()

    def test_every_setting_is_given_or_meant_to_be_left_out(self, written):
        given = set(written["Globals"]["Function"]["Environment"]["Variables"])
        left_out = {field for field, variable in FIELDS.items() if variable not in given}
        assert left_out == self.ONE_MACHINE | self.DEFAULTS

    def test_no_function_adds_a_name_of_its_own(self, functions):
        assert [name for name, spec in functions.items() if "Environment" in spec] == []

    def test_no_variable_holds_a_secret(self, written):
        given = json.dumps(written["Globals"]["Function"]["Environment"])
        assert "resolve:secretsmanager" not in given
        assert FIELDS["pepper"] + '"' not in given


class TestTable:
    def test_it_is_what_the_adapter_expects(self, written):
        (table,) = of_type(written, "AWS::DynamoDB::Table").values()
        properties = table["Properties"]
        assert [key["AttributeName"] for key in properties["KeySchema"]] == ["pk", "sk"]
        (index,) = properties["GlobalSecondaryIndexes"]
        assert index["IndexName"] == INDEX_NAME
        assert [key["AttributeName"] for key in index["KeySchema"]] == ["ipk", "isk"]
        assert properties["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}

    def test_it_is_encrypted_recoverable_and_outlives_the_stack(self, written):
        (table,) = of_type(written, "AWS::DynamoDB::Table").values()
        assert table["Properties"]["SSESpecification"]["SSEEnabled"] is True
        assert table["Properties"]["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
        assert table["Properties"]["BillingMode"] == "PAY_PER_REQUEST"
        assert table["DeletionPolicy"] == "RetainExceptOnCreate"


class TestQueues:
    def test_both_are_fifo_and_encrypted_and_the_first_gives_up_into_the_second(self, written):
        queues = of_type(written, "AWS::SQS::Queue")
        assert all(
            spec["Properties"]["FifoQueue"] and spec["Properties"]["SqsManagedSseEnabled"] for spec in queues.values()
        )
        redrive = queues["WorkQueue"]["Properties"]["RedrivePolicy"]
        assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": ["WorkDeadLetterQueue", "Arn"]}
        assert redrive["maxReceiveCount"] == MAX_RECEIVES
        assert queues["WorkDeadLetterQueue"]["Properties"]["MessageRetentionPeriod"] == 14 * 86_400

    def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_take(self, written, functions):
        visibility = written["Resources"]["WorkQueue"]["Properties"]["VisibilityTimeout"]
        assert visibility >= 6 * functions["ExtractorFunction"]["Timeout"]

    def test_users_are_throttled_one_by_one_and_not_all_together(self, written):
        properties = written["Resources"]["WorkQueue"]["Properties"]
        assert properties["FifoThroughputLimit"] == "perMessageGroupId"
        assert properties["DeduplicationScope"] == "messageGroup"

    def test_the_extractor_reports_failed_items(self, functions):
        (source,) = [event for event in functions["ExtractorFunction"]["Events"].values() if event["Type"] == "SQS"]
        assert source["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert source["Properties"]["BatchSize"] <= 10
        assert "MaximumBatchingWindowInSeconds" not in source["Properties"]

    def test_lost_work_and_late_work_raise_an_alarm(self, written):
        watched = {
            (spec["Properties"]["MetricName"], spec["Properties"]["Dimensions"][0]["Value"]["Fn::GetAtt"][0])
            for spec in of_type(written, "AWS::CloudWatch::Alarm").values()
        }
        assert watched == {
            ("ApproximateNumberOfMessagesVisible", "WorkDeadLetterQueue"),
            ("ApproximateAgeOfOldestMessage", "WorkQueue"),
        }


class TestPrivacy:
    def test_no_bucket_is_public_or_unencrypted(self, written, nested):
        for document in (written, *nested.values()):
            for spec in of_type(document, "AWS::S3::Bucket").values():
                assert set(spec["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
                assert spec["Properties"]["BucketEncryption"]

    def test_large_texts_have_no_versions_that_would_outlive_a_deletion(self, written):
        assert "VersioningConfiguration" not in written["Resources"]["Blobs"]["Properties"]

    def test_queues_and_bucket_refuse_plain_http(self, written):
        for name in ("BlobsPolicy", "QueuesPolicy"):
            (statement,) = written["Resources"][name]["Properties"]["PolicyDocument"]["Statement"]
            assert statement["Effect"] == "Deny"
            assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}

    def test_every_route_but_the_health_check_asks_for_a_key(self, transformed):
        (api,) = of_type(transformed, "AWS::ApiGatewayV2::Api").values()
        opened = [
            (method, path)
            for path, methods in api["Properties"]["Body"]["paths"].items()
            for method, operation in methods.items()
            if not any("ApiKey" in requirement for requirement in operation.get("security", ()))
        ]
        assert opened == [("get", "/api/v1/healthcheck")]

    def test_a_revoked_key_ends_within_five_minutes(self, written):
        (api,) = of_type(written, "AWS::Serverless::HttpApi").values()
        authorizer = api["Properties"]["Auth"]["Authorizers"]["ApiKey"]
        assert authorizer["Identity"]["ReauthorizeEvery"] <= 300
        assert authorizer["EnableFunctionDefaultPermissions"] is True

    def test_access_logs_name_the_route_and_not_the_path(self, written):
        (api,) = of_type(written, "AWS::Serverless::HttpApi").values()
        shape = api["Properties"]["AccessLogSettings"]["Format"]
        assert "$context.routeKey" in shape
        assert "path" not in shape.replace("$context.routeKey", "").lower()

    def test_every_log_ends_some_day(self, written, transformed, nested):
        for document in (written, *nested.values()):
            for spec in of_type(document, "AWS::Logs::LogGroup").values():
                assert "RetentionInDays" in spec["Properties"]
        for spec in of_type(transformed, "AWS::Lambda::Function").values():
            assert "LogGroup" in spec["Properties"]["LoggingConfig"]

    def test_the_cache_and_the_search_are_encrypted_and_signed(self, nested):
        user = nested["cache"]["Resources"]["User"]["Properties"]
        assert user["AuthenticationMode"] == {"Type": "iam"}
        assert "+@all" not in user["AccessString"]
        assert nested["cache"]["Outputs"]["Url"]["Value"]["Fn::Sub"].startswith("rediss://")
        domain = nested["search"]["Resources"]["Domain"]["Properties"]
        assert domain["EncryptionAtRestOptions"]["Enabled"]
        assert domain["NodeToNodeEncryptionOptions"]["Enabled"]
        assert domain["DomainEndpointOptions"]["EnforceHTTPS"]

    def test_nothing_from_outside_enters_the_network(self, nested):
        for spec in of_type(nested["network"], "AWS::EC2::SecurityGroup").values():
            for rule in spec["Properties"].get("SecurityGroupIngress", ()):
                assert "CidrIp" not in rule
        assert of_type(nested["network"], "AWS::EC2::InternetGateway") == {}
        for spec in of_type(nested["network"], "AWS::EC2::Subnet").values():
            assert spec["Properties"]["MapPublicIpOnLaunch"] is False


class TestPermissions:
    def test_each_function_has_a_role_of_its_own(self, functions):
        roles = [spec["Role"]["Fn::GetAtt"][0] for spec in functions.values()]
        assert len(set(roles)) == len(functions)

    def test_sam_adds_no_role(self, written, transformed):
        assert set(of_type(transformed, "AWS::IAM::Role")) - set(of_type(written, "AWS::IAM::Role")) <= {
            "MaintenanceFunctionSweepRole"
        }

    @pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
    def test_a_wildcard_has_its_reason_written_above_it(self, path):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            allowed_all = re.search(r'(Action|Resource|Principal): "?\*"?$|foundation-model/\*|Action: .*:\*', line)
            if allowed_all:
                above = "\n".join(lines[max(0, number - 8) : number])
                assert "# " in above, f"{path.name}:{number + 1} {line.strip()}"

    def test_only_tracing_is_allowed_on_everything(self, written):
        unbounded = [
            (name, statement["Sid"])
            for name, spec in of_type(written, "AWS::IAM::Role").items()
            for policy in spec["Properties"]["Policies"]
            for statement in plain_statements(policy["PolicyDocument"]["Statement"])
            if statement["Resource"] == "*"
        ]
        assert {sid for _, sid in unbounded} == {"Trace"}

    def test_no_function_may_call_every_action_of_a_service(self, written):
        for spec in of_type(written, "AWS::IAM::Role").values():
            for policy in spec["Properties"]["Policies"]:
                for statement in plain_statements(policy["PolicyDocument"]["Statement"]):
                    actions = statement["Action"]
                    for action in [actions] if isinstance(actions, str) else actions:
                        assert "*" not in action

    def test_the_authorizer_reads_keys_and_nothing_else(self, written):
        (policy,) = written["Resources"]["AuthorizerRole"]["Properties"]["Policies"]
        actions = {statement["Sid"]: statement["Action"] for statement in policy["PolicyDocument"]["Statement"]}
        assert actions["KeyRecords"] == "dynamodb:GetItem"
        assert set(actions) == {"Log", "Trace", "KeyRecords", "Pepper"}

    def test_reading_functions_cannot_take_work_or_delete_texts(self, written):
        for role in ("RecallRole", "ContextRole"):
            text = json.dumps(written["Resources"][role])
            for action in ("sqs:", "s3:PutObject", "s3:DeleteObject", "secretsmanager:PutSecretValue"):
                assert action not in text

    def test_the_policy_of_each_function_fits_what_lambda_keeps(self, transformed):
        """20,480 bytes. SAM adds a statement for each route; measured with the longest stage name."""
        sizes: dict[str, int] = {}
        for logical, spec in of_type(transformed, "AWS::Lambda::Permission").items():
            function = json.dumps(spec["Properties"]["FunctionName"])
            source = spec["Properties"]["SourceArn"]["Fn::Sub"][0].split("/", 1)[1]
            arn = "arn:aws:lambda:ap-southeast-1:123456789012:function:engram-0123456789-maintenance:live"
            statement = {
                "Sid": f"engram-0123456789-{logical}-AbCdEfGhIjKl",
                "Effect": "Allow",
                "Principal": {"Service": "apigateway.amazonaws.com"},
                "Action": "lambda:InvokeFunction",
                "Resource": arn,
                "Condition": {
                    "ArnLike": {"AWS:SourceArn": f"arn:aws:execute-api:ap-southeast-1:123456789012:abcdefghij/{source}"}
                },
            }
            sizes[function] = sizes.get(function, 200) + len(json.dumps(statement, separators=(",", ":"))) + 1
        assert max(sizes.values()) < 20_480, sizes

    def test_deploying_is_for_one_repository_and_one_environment(self, nested):
        trust = nested["deploy-role"]["Resources"]["DeployRole"]["Properties"]["AssumeRolePolicyDocument"]
        condition = trust["Statement"][0]["Condition"]
        assert set(condition) == {"StringEquals"}
        subject = condition["StringEquals"]["token.actions.githubusercontent.com:sub"]["Fn::Sub"]
        assert subject == "repo:${Repository}:environment:${Stage}"


def plain_statements(statements: list[Any]) -> list[dict[str, Any]]:
    """Statements, with conditional ones as if their condition held."""
    return [one["Fn::If"][1] if "Fn::If" in one else one for one in statements]


class TestModels:
    def test_functions_that_choose_by_a_model_may_call_it(self, written):
        """Distilling, the context's profile filter, and Memobase's profile call with chats."""
        may = [name for name, spec in of_type(written, "AWS::IAM::Role").items() if '"Distil"' in json.dumps(spec)]
        assert sorted(may) == ["ContextRole", "ExtractorRole", "ManagementRole"]

    def test_only_recall_may_ask_the_model_that_chooses_and_only_if_there_is_one(self, written):
        roles = of_type(written, "AWS::IAM::Role")
        assert [name for name, spec in roles.items() if '"Choose"' in json.dumps(spec)] == ["RecallRole"]
        (policy,) = roles["RecallRole"]["Properties"]["Policies"]
        conditional = [one["Fn::If"] for one in policy["PolicyDocument"]["Statement"] if "Fn::If" in one]
        (statement,) = [then for condition, then, _ in conditional if condition == "ChoosesOnBedrock"]
        assert statement["Action"] == "bedrock:InvokeModel"
        assert "${ChooserModel}" in json.dumps(statement["Resource"])
        assert written["Parameters"]["Chooser"]["Default"] == "none"


class TestFunctions:
    def test_all_run_on_one_runtime_with_both_layers_and_tracing(self, transformed):
        for spec in of_type(transformed, "AWS::Lambda::Function").values():
            properties = spec["Properties"]
            assert properties["Runtime"] == "python3.13"
            assert len(properties["Layers"]) == 2
            assert properties["TracingConfig"] == {"Mode": "Active"}

    def test_an_answer_comes_before_the_gateway_gives_up(self, written, functions):
        default = written["Globals"]["Function"]["Timeout"]
        for spec in functions.values():
            if any(event["Type"] == "HttpApi" for event in spec.get("Events", {}).values()):
                assert spec.get("Timeout", default) < 30

    def test_snapstart_costs_nothing_unless_it_is_asked_for(self, written):
        assert written["Parameters"]["SnapStart"]["Default"] == "off"
        assert written["Globals"]["Function"]["SnapStart"]["ApplyOn"]["Fn::If"] == [
            "UseSnapStart",
            "PublishedVersions",
            "None",
        ]

    def test_what_is_idle_costs_nothing_by_default(self, written):
        defaults = {name: spec.get("Default") for name, spec in written["Parameters"].items()}
        assert (defaults["Search"], defaults["Cache"], defaults["Network"]) == ("partition", "none", "public")
        assert (defaults["Embedder"], defaults["Distiller"]) == ("local", "rules")


class TestSeveralInstallations:
    """Stages share an account: what has a name of its own has the stage in it."""

    NAMES = ("Name", "FunctionName", "BucketName", "TableName", "QueueName", "DashboardName", "DomainName", "UserId")
    NAMES += ("ServerlessCacheName", "UserGroupId", "LogGroupName", "PolicyName", "RoleName", "AlarmName")

    def test_every_name_that_an_account_holds_once_has_the_stage_in_it(self, transformed, nested):
        for document in (transformed, *nested.values()):
            for logical, spec in document["Resources"].items():
                if spec["Type"] == "AWS::Lambda::Alias":  # named within its function
                    continue
                for name in self.NAMES:
                    given = spec.get("Properties", {}).get(name)
                    if given is not None and not (isinstance(given, dict) and "Ref" in given):
                        assert "${Stage}" in json.dumps(given), f"{logical}.{name} is {given}"

    def test_a_new_account_can_deploy(self, functions):
        """It may run ten functions at once and reserve none of them; two sweeps at a time do no harm."""
        assert [name for name, spec in functions.items() if "ReservedConcurrentExecutions" in spec] == []


class TestSnapshots:
    def test_every_caller_asks_for_the_published_version(self, transformed):
        """A snapshot belongs to a version: whoever calls $LATEST starts cold and pays for the snapshot all the same."""
        text = json.dumps(transformed["Resources"])
        functions = of_type(transformed, "AWS::Lambda::Function")
        by_arn = [name for name in functions if json.dumps({"Fn::GetAtt": [name, "Arn"]}) in text]
        assert by_arn == []
        (scheme,) = transformed["Resources"]["Api"]["Properties"]["Body"]["components"]["securitySchemes"].values()
        assert "AuthorizerFunctionAliaslive" in json.dumps(scheme["x-amazon-apigateway-authorizer"]["authorizerUri"])


class TestParameters:
    def test_a_collection_that_the_network_cannot_reach_is_refused(self, written):
        rule = written["Rules"]["SearchInsideTheNetwork"]
        assert {"Fn::Equals": [{"Ref": "Network"}, "vpc"]} in rule["RuleCondition"]["Fn::And"]
        assert rule["Assertions"][0]["Assert"] == {"Fn::Equals": [{"Ref": "SearchKind"}, "domain"]}

    def test_a_model_without_a_name_or_a_server_is_refused_before_anything_is_made(self, written):
        asserted = {name: json.dumps(rule["Assertions"]) for name, rule in written["Rules"].items()}
        assert "DistillerModel" in asserted["DistillerHasItsModel"]
        assert "ModelBaseUrl" in asserted["DistillerHasItsServer"]
        assert "ModelBaseUrl" in asserted["EmbedderHasItsServer"]
        assert "ChooserModel" in asserted["ChooserHasItsModel"]
        assert "ModelBaseUrl" in asserted["ChooserHasItsServer"]
