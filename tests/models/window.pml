/* Windows of one worker's time, in a store that keeps what it has acknowledged: SQLite, MariaDB, PostgreSQL, etcd,
 * ZooKeeper. How to run it and what it shows: docs/models.md.
 *
 * Every process may crash at any step. Every request and every answer may be lost, and a request that its sender has
 * given up may still take effect, however much later. Every reading of a clock may say anything. A worker may be taken
 * from an owner that lives: that a lease has ended is only liveness.
 *
 *   here                     there
 *   Row, replace()           WorkerRow, and each server's replace_worker(): UPDATE ... WHERE fence, owner, hw
 *                            (core/src/sql/workers.cpp), a transaction of etcd, a versioned write of ZooKeeper. In
 *                            SQLite reading and replacing are one transaction (core/src/store/sqlite_store.cpp)
 *   renew, take, request     WorkerRows::take() and read() (core/src/store/worker_rows.hpp), which WindowSource::draw()
 *                            (core/src/generator/snowflake.cpp) calls; renew goes by WorkerRows::last_
 *   ask()                    next_window() (core/src/store/grant_rules.hpp)
 *   accept()                 Supply::accept() (core/src/reserve/supply.cpp)
 *   next, end; ready_*       Counter, RangeChain::current; RangeChain::ready
 *   issue()                  a draw (Counter::draw_between)
 *   closing, returning       Supply::close() and give_back(); WindowSource::give_back() and release();
 *                            WorkerRows::give_back()
 *   fork                     MADV_WIPEONFORK, Generator::ensure_alive() (core/src/generator/generator.cpp)
 *
 * A number stands for a tick of time. Left out is what only refuses: a worker that is busy, a clock that is too far
 * behind (CLOCK_BACK) or ahead. So this holds for on_clock_back = continue as well. */

#ifndef IMAGES
#define IMAGES 3 /* process images: those that were started, again after a crash too, and forked ones */
#endif
#ifndef TICKS
#define TICKS 7
#endif
#define SLOTS 2 /* processes that run at once */
#define WIDTH 2 /* WindowRequest::width_ms */
#define LEAST 1 /* WindowRequest::min_ms */

#define MAX(a, b) ((a) > (b) -> (a) : (b))

typedef Row {
  byte fence; /* 0: nobody has had the worker */
  byte owner; /* the nonce of an image; 0: nobody owns it */
  byte hw
};
#define SAME(a, b) (a.fence == b.fence && a.owner == b.owner && a.hw == b.hw)
#define SET(row_, fence_, owner_, hw_) row_.fence = fence_; row_.owner = owner_; row_.hw = hw_
#define COPY(to, from) SET(to, from.fence, from.owner, from.hw)

typedef Image {
  byte nonce;       /* 0: there is none */
  byte fence;       /* of its grant; 0: it will acquire */
  byte next;        /* the tick that it draws next */
  byte end;         /* of the window in use */
  byte ready_first; /* the window after that; ready_end 0: none */
  byte ready_end
};
#define ME image[me]
#define LATEST (ME.ready_end != 0 -> ME.ready_end : ME.end) /* where its latest window ends */

Row row;
Image image[SLOTS];
Row late[SLOTS]; /* what requests that were given up make of `row`, should they arrive; fence 0: none */
byte images;     /* nonces that were drawn */
short issued;    /* bit T: an id with tick T has been issued */

/* States that must be reachable: a run that must stop there shows that the model gets so far. */
#ifdef REACH_ID_AFTER_CRASH
byte crashed; /* the tick after the last one issued by an image that then crashed */
#define REACHED_BY_ISSUE (crashed != 0 && ME.nonce == IMAGES && ME.next >= crashed)
#endif
#ifdef REACH_ID_FROM_A_RETURNED_WINDOW
bool returned[TICKS]; /* this tick was the first one of what was granted and given back unused */
#define REACHED_BY_ISSUE returned[ME.next]
#endif
#ifdef REACH_ID_OF_A_LATE_OWNER
#define REACHED_BY_ISSUE (row.owner != ME.nonce && row.owner != 0 && issued >> ME.next != 0)
#endif
#ifdef REACH_ID_AFTER_A_LATE_REQUEST
bool arrived_late;
#define REACHED_BY_ISSUE (arrived_late && ME.nonce == row.owner && ME.end == row.hw)
#endif
#ifdef REACH_PARENT_AND_CHILD
bool forked, parent_issued;
#define REACHED_BY_ISSUE (forked && parent_issued && ME.nonce == 2)
#endif
#ifndef REACHED_BY_ISSUE
#define REACHED_BY_ISSUE false
#endif

/* Nothing depends on which ticks were issued. So runs in which a clock leaves ticks out need not be modelled: the one
 * in which all of them are issued finds at least as much. */
inline issue() {
  assert(!REACHED_BY_ISSUE);
  assert(!(issued >> ME.next & 1)); /* no id is issued twice */
  issued = issued | 1 << ME.next;
  ME.next++
}

/* The store's one atomic step. A row never comes back: fences only rise, and so does the mark of a fence, until its
 * owner gives it up. So a request that is late has no effect once the row has changed. */
inline replace(seen, to) {
  is_replaced = SAME(row, seen);
#ifdef RENEW_WITHOUT_FENCE
  is_replaced = is_replaced || (to.fence == seen.fence && to.owner != 0);
#endif
#ifdef ACQUIRE_WITHOUT_COMPARING
  is_replaced = is_replaced || to.fence != seen.fence;
#endif
  if
  :: is_replaced -> COPY(row, to); SET(late[0], 0, 0, 0); SET(late[1], 0, 0, 0)
  :: else
  fi
}

inline send_late(seen, to) {
  if
  :: SAME(row, seen) -> COPY(late[me], to)
  :: else
  fi
}

inline ask() {
#ifdef NO_HIGH_WATER
  start = now;
#else
  start = MAX(seen.hw, now);
#endif
  SET(asked, (ME.fence != 0 -> ME.fence : seen.fence + 1), ME.nonce, MAX(start + LEAST, now + WIDTH))
}

inline accept() {
  ME.fence = asked.fence;
  if
  :: start < LATEST -> /* I7, STORE_REGRESSED: nothing is issued any more */
#ifndef FAULT
     assert(false); /* never, with a store that keeps what it acknowledged */
#endif
     ME.next = 0; ME.end = 0
  :: else -> ME.ready_first = start; ME.ready_end = asked.hw
  fi
}

/* The answer did not arrive: whether the request took effect is not known. */
inline burn() {
#ifdef USE_UNKNOWN_GRANT
  accept();
#endif
  skip
}

inline clear() {
  SET(seen, 0, 0, 0);
  SET(asked, 0, 0, 0);
  start = 0; used = 0; now = 0; is_replaced = false
}

inline end_image() {
  ME.nonce = 0; ME.fence = 0; ME.next = 0; ME.end = 0; ME.ready_first = 0; ME.ready_end = 0
}

proctype Process(byte me) {
  Row seen;  /* the row that a request is decided by */
  Row asked; /* the row that is to follow */
  byte start; /* of the window that is asked for */
  byte used, now;
  bool is_replaced;

start_image:
  if
  :: d_step { ME.nonce == 0 && images < IMAGES && (images > 0 || me == 0) -> images++; ME.nonce = images }
  :: d_step { ME.nonce != 0 -> skip } /* forked */
  :: d_step { ME.nonce == 0 && images == IMAGES -> skip } -> goto over
  fi;

draw:
  do
  :: d_step {
       ME.next < ME.end -> issue()
#ifdef REACH_PARENT_AND_CHILD
       ;
       parent_issued = parent_issued || (forked && ME.nonce == 1)
#endif
     }
  :: d_step {
       ME.next >= ME.end && ME.ready_end != 0 ->
       ME.next = ME.ready_first; ME.end = ME.ready_end; ME.ready_first = 0; ME.ready_end = 0
     }
  :: ME.ready_end == 0 && ME.fence != 0 -> goto renew
  :: ME.ready_end == 0 -> goto take
  :: ME.fence != 0 -> goto closing
  :: d_step {
       true -> /* a crash */
#ifdef REACH_ID_AFTER_CRASH
       crashed = (ME.next != 0 && issued >> (ME.next - 1) & 1 -> ME.next : 0);
#endif
       end_image()
     } -> goto start_image
  :: d_step { /* fork(): the child finds an empty page, and begins with a nonce of its own */
       image[1 - me].nonce == 0 && images < IMAGES ->
       images++;
       image[1 - me].nonce = images;
#ifdef FORK_KEEPS_PAGE
       image[1 - me].next = ME.next; image[1 - me].end = ME.end;
#endif
#ifdef FORK_KEEPS_SUPPLY
       image[1 - me].ready_first = ME.ready_first; image[1 - me].ready_end = ME.ready_end;
#endif
#ifdef REACH_PARENT_AND_CHILD
       forked = true;
#endif
     }
  od;

take:
  atomic {
    COPY(seen, row);
    if
    :: ME.fence != 0 && !(seen.owner == ME.nonce && seen.fence == ME.fence) ->
       ME.fence = 0; /* WORKER_BUSY. What is held stays ours; the next attempt acquires */
       clear();
       goto draw
    :: else
    fi
  };
  goto request;
renew:
  atomic {
    SET(seen, ME.fence, ME.nonce, LATEST);
request: /* what happens between asking and the store's step might as well happen before */
    if
    :: now = 0
    :: TICKS >= WIDTH + 1 -> now = 1
    :: TICKS >= WIDTH + 2 -> now = 2
    :: TICKS >= WIDTH + 3 -> now = 3
    :: TICKS >= WIDTH + 4 -> now = 4
    :: TICKS >= WIDTH + 5 -> now = 5
    fi;
    ask();
    if
    :: asked.hw > TICKS -> clear(); goto draw /* beyond what is modelled */
    :: asked.hw <= TICKS -> d_step { replace(seen, asked) };
       if
       :: is_replaced -> d_step { accept(); clear() }; goto draw
       :: else -> clear(); goto take
       fi
    :: asked.hw <= TICKS -> d_step { replace(seen, asked); burn(); clear() }; goto draw /* the answer is lost */
    :: asked.hw <= TICKS -> d_step { send_late(seen, asked); burn(); clear() }; goto draw /* the request is, or late */
    fi
  };

/* Down to where the latest reservation is unused in one piece. Whoever does not know where its grant began gives less
 * back: WorkerRows::began_, high_water_after_return(). */
closing:
  atomic {
    used = LATEST;
    if
    :: true ->
       if
       :: ME.ready_end != 0 -> used = ME.ready_first
       :: else
       fi;
       if
#ifdef RETURN_OLD_WINDOW
       :: ME.next < ME.end -> used = ME.next
#else
       :: ME.next < ME.end && ME.end == used -> used = ME.next
#endif
       :: else
       fi
    :: true
    :: ME.ready_end != 0 -> used = ME.ready_first
    fi;
    ME.end = LATEST;
    ME.next = ME.end; ME.ready_first = 0; ME.ready_end = 0
  };
returning:
  atomic {
    COPY(seen, row);
#ifdef RETURN_BLINDLY
    SET(asked, seen.fence, 0, used);
#else
    if
    :: seen.fence != ME.fence || seen.owner == 0 -> clear(); end_image(); goto start_image /* somebody else's by now */
    :: else -> SET(asked, seen.fence, 0, (seen.hw == LATEST -> used : seen.hw))
    fi
#endif
  };
  atomic {
    if
    :: true ->
       replace(seen, asked);
#ifdef REACH_ID_FROM_A_RETURNED_WINDOW
       if
       :: is_replaced && used < seen.hw -> returned[used] = true
       :: else
       fi;
#endif
       if
       :: is_replaced
       :: else -> SET(seen, 0, 0, 0); SET(asked, 0, 0, 0); goto returning
       fi
    :: true -> send_late(seen, asked)
    fi;
    clear();
    end_image();
    goto start_image
  };

over:
  skip
}

/* What nobody waits for any more. */
proctype Network() {
end:
  do
  :: d_step {
       late[0].fence != 0 -> COPY(row, late[0]); SET(late[0], 0, 0, 0); SET(late[1], 0, 0, 0)
#ifdef REACH_ID_AFTER_A_LATE_REQUEST
       ;
       arrived_late = true
#endif
     }
  :: d_step {
       late[1].fence != 0 -> COPY(row, late[1]); SET(late[0], 0, 0, 0); SET(late[1], 0, 0, 0)
#ifdef REACH_ID_AFTER_A_LATE_REQUEST
       ;
       arrived_late = true
#endif
     }
  od
}

init {
  atomic {
    run Process(0);
    run Process(1);
    run Network()
  }
}
