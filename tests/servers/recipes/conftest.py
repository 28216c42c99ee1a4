"""The engine of containers, started once for all tests of a session. See compose.py."""

import contextlib

import deadline
import pytest
from compose import Engine
from images import store_of_images

deadline.SECONDS = 900  # the first test that needs them builds images, and services start several times


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    with store_of_images(tmp_path_factory) as images, contextlib.closing(Engine(images)) as started:
        yield started
