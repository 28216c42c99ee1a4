"""One connection per store URL and process, however many generators; it ends with the last of them."""

import idgen
from clients import MODULES, create, distinct, new_tag, wait_until


def test_forty_generators_share_one_connection_until_the_last_one_closes(shared, proxy):
    url = shared.url(port=proxy.port)
    tags = [create(shared.url(), new_tag()) for _ in range(4)]
    generators = [
        idgen.Generator(
            kind="segment",
            tag=tags[i % len(tags)],
            store=url,
            segment_step=5,
            segment_runway="0",
            module_path=str(MODULES),
        )
        for i in range(40)
    ]
    drawn = {tag: [] for tag in tags}
    for _ in range(12):
        for i, generator in enumerate(generators):
            drawn[tags[i % len(tags)]].append(generator.next())
    for ids in drawn.values():
        assert len(distinct(ids)) == 120
    assert len(proxy.connections) == 1
    assert proxy.ended == 0
    for generator in generators[1:]:
        generator.close()
    generators[0].next()
    assert len(proxy.connections) == 1
    generators[0].close()
    wait_until(lambda: not proxy.connections, what="the connection to end with the last generator")
