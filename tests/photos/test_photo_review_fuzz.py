"""The review API under requests that nobody meant: from its own description, random, malformed."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("fastapi", reason="needs the extra review: pip install 'candidly[review]'")
pytest.importorskip("cv2", reason="needs the extra photos: pip install 'candidly[photos]'")
pytest.importorskip("schemathesis", reason="needs the package schemathesis")

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import response_schema_conformance

from benchmarks.photos.large_project import make_project
from benchmarks.photos.review_speed import contents, malformed_request, random_request
from review_running import client_of

MUST = ("POST /api/decisions", "POST /api/undo", "GET /api/queue")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    project = tmp_path_factory.mktemp("fuzz") / "a.candidly"
    make_project(project, 300, 40)
    with client_of(project) as (client, server):
        yield client, server


@pytest.mark.slow
def test_random_and_malformed_requests_fail_nowhere_and_change_nothing(served):
    client, server = served
    body = {"what": "nobody", "faces": [{"face": 9, "seen": 0}]}
    assert client.post("api/decisions", json=body).status_code == 200  # something to lose
    rng, before = random.Random(0), contents(server.review.path)
    answers = [random_request(client, rng) for _ in range(1000)]
    answers += [malformed_request(client, rng) for _ in range(500)]
    assert [one.url for one in answers if one.status_code >= 500] == []
    assert contents(server.review.path) == before


@pytest.mark.slow
def test_requests_of_the_description_get_answers_of_the_description(served):
    client, server = served
    schema = schemathesis.openapi.from_dict(client.get("openapi.json").json())
    operations = [found.ok() for found in schema.get_all_operations()]
    labels = {one.label for one in operations}
    assert labels.issuperset(MUST)
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(
            max_examples=20,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def conforms(case):
            answer = case.call(base_url=server.address.rstrip("/"))
            assert answer.status_code < 500, (case, answer.text)
            case.validate_response(answer, checks=[response_schema_conformance])

        conforms()


def test_what_is_random_above_is_not_always_refused(served):
    client, _ = served
    rng = random.Random(1)
    statuses = {random_request(client, rng).status_code for _ in range(100)}
    assert {200, 404, 422} <= statuses
