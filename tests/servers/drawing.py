"""A program that draws ids through the C interface, for tests that must continue after an error, where `idgen next`
ends.

    drawing.py LIBRARY BATCH KEY=VALUE...

BATCH 0: for each number N on standard input it draws N ids and answers with one line. After `N SECONDS` it waits for
each id so long at most, whatever wait_max is: a test whose store breaks need not be short of time while it is up.
Otherwise it draws batches of that size until SIGTERM, one per line, and closes the generator, with a pause of PAUSE
seconds (an environment variable) after each. A line holds the ids drawn and, after a failure, `!STATUS message`. A
failure that is not retryable ends it with exit status 1; with BATCH 0 it never ends by itself.
"""

import ctypes
import os
import select
import signal
import sys


class Error(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("retry_after_ns", ctypes.c_uint64),
        ("message", ctypes.c_char * 496),
        ("cause", ctypes.c_uint64),
    )

    def __init__(self):
        super().__init__(ctypes.sizeof(Error))


CANCELLED = 25
Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class Draw(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("n", ctypes.c_size_t),
        ("ids", ctypes.POINTER(ctypes.c_uint64)),
        ("wide_ids", ctypes.c_void_p),
        ("owners", ctypes.c_void_p),
        ("int_owners", ctypes.c_void_p),
        ("owner_count", ctypes.c_size_t),
        ("cancelled", Callback),
        ("ctx", ctypes.c_void_p),
        ("waited_ns", ctypes.c_uint64),
        ("drawn", ctypes.c_uint64),
        ("written", ctypes.c_size_t),
        ("first", ctypes.c_uint64),
        ("stride", ctypes.c_uint64),
    )

    def __init__(self, ids, cancelled, waited_ns=0):
        super().__init__(ctypes.sizeof(Draw), n=len(ids), ids=ids, cancelled=cancelled, waited_ns=waited_ns)


class Drawing:
    def __init__(self, library, properties):
        self.library = ctypes.CDLL(library)
        self.library.idgen_status_name.restype = ctypes.c_char_p
        self.library.idgen_wait_max_ns.restype = ctypes.c_uint64
        self.stopped = False
        self.cancelled = Callback(lambda _: self.stopped)
        self.error = Error()
        self.generator = ctypes.c_void_p()
        config = ctypes.c_void_p()
        self.library.idgen_config_create(ctypes.byref(config), ctypes.byref(self.error))
        for pair in properties:
            key, value = pair.split("=", 1)
            if self.library.idgen_config_set(config, key.encode(), value.encode(), ctypes.byref(self.error)):
                self.give_up()
        if self.library.idgen_create(config, ctypes.byref(self.generator), ctypes.byref(self.error)):
            self.give_up()

    def stop(self, *_):
        self.stopped = True

    def failure(self):
        name = self.library.idgen_status_name(self.error.status).decode()
        return f"!{name} {self.error.message.decode()}".replace("\n", " ")

    def is_worth_a_retry(self):
        return self.library.idgen_status_is_retryable(self.error.status) == 1

    def give_up(self):
        self.write([self.failure()])
        sys.exit(75 if self.is_worth_a_retry() else 1)

    @staticmethod
    def write(words):
        os.write(1, (" ".join(words) + "\n").encode())  # at once, or not at all

    def draw(self, count):
        ids = (ctypes.c_uint64 * count)()
        draw = Draw(ids, self.cancelled)
        status = self.library.idgen_draw(self.generator, ctypes.byref(draw), ctypes.byref(self.error))
        return self.answer(ids[: draw.written], status)

    def draw_within(self, count, seconds):
        waited = self.library.idgen_wait_max_ns(self.generator) - int(seconds * 1e9)
        id, ids, status = (ctypes.c_uint64 * 1)(), [], 0
        draw = Draw(id, self.cancelled, max(waited, 0))
        while not status and len(ids) < count:
            status = self.library.idgen_draw(self.generator, ctypes.byref(draw), ctypes.byref(self.error))
            ids += [] if status else [id[0]]
        return self.answer(ids, status)

    def answer(self, ids, status):
        words = list(map(str, ids))
        failed = status not in (0, CANCELLED)
        if failed:
            words.append(self.failure())
        if words:
            self.write(words)
        return not failed

    def close(self):
        if self.library.idgen_close(self.generator, ctypes.byref(self.error)):
            self.write([self.failure()])


def main(library, batch, *properties):
    drawing = Drawing(library, properties)
    signal.signal(signal.SIGTERM, drawing.stop)
    pause = float(os.environ.get("PAUSE", 0))
    if int(batch) == 0:
        for line in sys.stdin:
            count, *seconds = line.split()
            drawing.draw_within(int(count), float(seconds[0])) if seconds else drawing.draw(int(count))
    while int(batch) and not drawing.stopped:
        if not drawing.draw(int(batch)) and not drawing.is_worth_a_retry():
            sys.exit(1)
        if pause:
            select.select([], [], [], pause)  # libfaketime refuses time.sleep
    drawing.close()


main(*sys.argv[1:])
