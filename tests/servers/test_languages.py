"""Programs in C, Python, Java and Go on one tag of each store, while clients and the server are killed."""

import contextlib

from clients import Client, create, ids_of, new_tag, segment, show

LANGUAGES = (None, "python", "java", "go")  # None: the C interface itself
EACH = 4


def test_sixteen_processes_in_four_languages_share_a_tag(shared, tmp_path):
    tag = create(shared.url(), new_tag())
    all_of_them = []
    with contextlib.ExitStack() as ends:

        def start(number):
            fresh = []
            for language in LANGUAGES * number:
                drawing = {"batch": 25, "language": language, "native": True}
                fresh.append(Client(tmp_path, shared.url(), tag, **drawing, step=10, wait_max="60s"))
                ends.callback(fresh[-1].close)
            for client in fresh:
                client.goes_on()
            all_of_them.extend(fresh)
            return fresh

        survivors = start(EACH)
        for client in survivors[: len(LANGUAGES)]:
            client.kill()
        survivors = survivors[len(LANGUAGES) :]
        shared.restart()
        if not shared.remembers:  # no client continues before one has drawn
            for client in survivors:
                client.process.wait(60)
                assert client.failures()[-1].startswith("STORE_REGRESSED")
            highest = max(number for client in all_of_them for number in client.ids())
            assert segment(shared.url(), tag, "advance", "--to", str(highest)).returncode == 0
            survivors = start(EACH - 1)
        written = [client.size() for client in survivors]
        for client, size in zip(survivors, written, strict=True):
            client.goes_on(size)
        for client in survivors:
            client.kill()
        ids = ids_of(all_of_them)
    assert max(ids) <= show(shared.url(), tag)["max_id"]
    assert len(ids) > len(all_of_them) * 25
