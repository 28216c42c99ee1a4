"""The shop's tables. Their ids are made in this process, before the rows are sent."""

import os
import time
from pathlib import Path

import idgen
import psycopg
from sqlalchemy import BigInteger, ForeignKey, String, create_engine, event, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

# Each process opens its own, on first use. The environment says where the numbers are kept: IDGEN_ORDERS_STORE.
orders = idgen.lazy(None, "orders", kind="segment")  # 1, 2, 3, ...
events = idgen.lazy(None, "events", worker="auto")  # time, worker and sequence in one id

DATABASE = os.environ.get("DATABASE", "postgresql+psycopg://shop@postgres/shop")
PASSWORD_FILE = Path(os.environ.get("PASSWORD_FILE", "/run/secrets/password"))
CONNECT_SECONDS = 10

engine = create_engine(DATABASE, pool_recycle=int(os.environ.get("POOL_RECYCLE", "300")))
Transaction = sessionmaker(engine).begin


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, default=orders.next)
    reference: Mapped[str] = mapped_column(String(64), unique=True)  # the customer's own


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, default=events.next)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    what: Mapped[str] = mapped_column(String(16))


@event.listens_for(engine, "do_connect")
def connect(_dialect, _record, arguments, parameters):
    """Reads the password each time, and once more if it is being changed at this moment."""
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return psycopg.connect(*arguments, **parameters, password=PASSWORD_FILE.read_text().strip())
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def place(session: Session, reference: str) -> int:
    """The id of the order with this reference. Placing it again changes nothing."""
    new = insert(Order).values(reference=reference).on_conflict_do_nothing(index_elements=[Order.reference])
    id = session.scalar(new.returning(Order.id))
    if id is None:
        return session.scalars(select(Order.id).where(Order.reference == reference)).one()
    session.add(Event(order_id=id, what="placed"))
    return id
