"""Rows of a table whose ids come from home-made snowflake generators, and what goes wrong with them in an hour.

    python3 home_made.py >orders.csv

41 bits of ms since 2025, 10 of worker, 12 of sequence: idgen's layout default. Each server keeps its last time in
memory, and nowhere else.

- At 10:20 the clock of host-2 is set back by 4 minutes, and its server restarts: its times come again.
- At 10:35 a deployment starts host-5 with the number of host-3.
- At 10:50 a page of 500 rows is exported twice, which is not the servers' fault.
"""

import csv
import random
import sys
from datetime import UTC, datetime

EPOCH = 1_735_689_600_000
TEN = int(datetime(2026, 3, 2, 10, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000


class Server:
    def __init__(self, host: str, worker: int) -> None:
        self.host, self.worker, self.behind, self.last, self.sequence = host, worker, 0, 0, 0

    def next(self, now: int) -> int:
        now -= self.behind
        self.sequence = self.sequence + 1 if now == self.last else 0
        self.last = now
        return (now - EPOCH) << 22 | self.worker << 12 | self.sequence


def main() -> None:
    rng = random.Random(1)
    servers = [Server(f"host-{number}", number) for number in (1, 2, 3, 4)]
    events = {
        20: lambda: setattr(servers[1], "behind", 4 * MINUTE),
        35: lambda: servers.append(Server("host-5", 3)),
    }
    rows: list[tuple[int, str, str]] = []
    for minute in range(60):
        events.get(minute, lambda: None)()
        for now in sorted(rng.randrange(MINUTE) for _ in range(3000)):
            server = rng.choice(servers)
            made = TEN + minute * MINUTE + now
            rows.append((server.next(made), server.host, datetime.fromtimestamp(made / 1000, UTC).isoformat()))
        if minute == 50:
            rows += rows[-500:]
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("id", "host", "created"))
    table.writerows(rows)


if __name__ == "__main__":
    main()
