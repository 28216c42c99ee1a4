"""What a deployment runs before its processes: tables, the store of the ids, the counter of orders. May run again."""

import os
from contextlib import suppress

import idgen

from models import Base, Transaction

LOCK = 20260101  # of this program, among the advisory locks of the database

with Transaction() as session:
    session.connection().exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")  # two deployments at once
    Base.metadata.create_all(session.connection())
    idgen.store_create(store=os.environ["IDGEN_EVENTS_STORE"])
    with suppress(idgen.TagExistsError):
        idgen.segment_create(store=os.environ["IDGEN_ORDERS_STORE"], tag="orders")
