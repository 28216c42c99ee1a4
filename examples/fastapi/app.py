"""The shop over HTTP."""

import os
import socket
from contextlib import asynccontextmanager

import idgen
from fastapi import FastAPI
from tasks import place_again

from models import Transaction, events, orders, place


@asynccontextmanager
async def lifespan(_app):
    with orders, events:  # at the end, what is left goes back to the store
        await orders.get_async()  # before the first request; waits for a store that is still starting
        await events.get_async()
        yield


app = FastAPI(lifespan=lifespan)


@app.put("/orders/{reference}")
def put_order(reference: str, again: bool = False) -> dict:
    """PUT, so that a load balancer may ask another host when one dies before it has answered."""
    with Transaction() as session:
        id = place(session, reference)
    if again:
        place_again.delay(reference)
    return {"id": str(id)}  # as text: JavaScript rounds numbers above 2^53


@app.get("/health")
def health() -> dict:
    return {"host": socket.gethostname(), "process": os.getpid(), "idgen": idgen.__version__}
