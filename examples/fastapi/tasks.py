"""What the shop does later, in Celery's processes."""

import os

from celery import Celery
from celery.signals import worker_process_init, worker_process_shutdown

from models import Transaction, engine, events, orders, place

app = Celery("tasks", broker=os.environ.get("BROKER", "redis://redis"))
app.conf.update(task_acks_late=True, task_reject_on_worker_lost=True, broker_connection_retry_on_startup=True)
# A process that starts waits for the store, 60 s for each of its two generators. Celery would kill it after 4.
app.conf.worker_proc_alive_timeout = 130


# Again until it succeeds: the database may be down, or may have hung up since the last task.
@app.task(autoretry_for=(Exception,), retry_backoff=True, retry_backoff_max=60, max_retries=None)
def place_again(reference: str) -> None:
    """The same once more, as a second order. May run twice: there is still one."""
    with Transaction() as session:
        place(session, reference + "-again")


@worker_process_init.connect
def open_generators(**_):
    engine.dispose(close=False)  # the parent's connections
    orders.get()
    events.get()


@worker_process_shutdown.connect
def close_generators(**_):
    orders.close()
    events.close()
