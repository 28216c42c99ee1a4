"""Ids that were granted one by one rise in the order of the calls, whichever process asks."""

import contextlib
import random

from clients import Asked, ascending, create, new_tag


def drawn_in_turn(url, tag, **properties):
    """Ids of three processes in the order of the calls, but for each one's first, which was reserved before."""
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(Asked(url, tag, step=1, **properties)) for _ in range(3)]
        for process in processes:
            process.ids(1)
        chance = random.Random(tag)
        return [id for _ in range(150) for id in chance.choice(processes).ids(1)]


def test_ids_of_one_number_a_segment_rise_across_processes_as_they_are_drawn(shared):
    ascending(drawn_in_turn(shared.url(), create(shared.url(), new_tag())))


def test_ids_of_one_number_a_segment_rise_across_processes_on_a_file_too(tmp_path):
    ascending(drawn_in_turn(f"sqlite:{tmp_path / 'ids.db'}", new_tag(), store_create="true"))
