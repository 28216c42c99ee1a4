"""A forked child opens a connection of its own; the parent's goes on."""

import os

import idgen
import pytest
from clients import create, new_tag

COUNT = 1000


def drawn(generator):
    return [generator.next() for _ in range(COUNT)]


def drawn_in_a_child(generator):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(there, "\n".join(map(str, drawn(generator))).encode())
            generator.close()
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here) as report:
        numbers = [int(line) for line in report]
    assert os.waitpid(child, 0)[1] == 0
    return numbers


def test_parent_and_children_draw_different_numbers_over_connections_of_their_own(shared):
    tag = create(shared.url(), new_tag())
    with idgen.Generator(kind="segment", store=shared.url(), tag=tag, segment_step=100, wait_max="20s") as generator:
        numbers = drawn(generator)
        for _ in range(3):
            child = drawn_in_a_child(generator)
            assert len(child) == COUNT
            numbers += child
            numbers += drawn(generator)
    assert len(set(numbers)) == 7 * COUNT


def test_a_wheel_has_its_modules_and_says_what_a_store_guarantees(shared):
    tag = create(shared.url(), new_tag())
    with idgen.Generator(kind="segment", store=shared.url(), tag=tag) as generator:
        assert generator.next() == 1
        text = generator.describe()
    assert "restart" in text or "power loss" in text
    assert "s3cr3t" not in text


def test_snowflakes_are_refused_with_advice(shared):
    with pytest.raises(idgen.UnsupportedError, match="sqlite:PATH"):
        idgen.Generator(kind="snowflake", worker=1, store=shared.url())
