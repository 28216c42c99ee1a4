/* Windows of one worker's time in Redis, which forgets what it has acknowledged. How to run it and what it shows:
 * docs/models.md.
 *
 * As in window.pml: crashes at any step, requests and answers that are lost, a request that arrives when nobody waits
 * for it any more (here also in another life of the server), clocks of clients that say anything, and a worker taken
 * from an owner that lives. Beside that: a failover at any time to a replica that is behind by any number of writes, or
 * is empty (a restart from an older dump is the same); FLUSHALL; rows that are deleted. Two readings of servers' clocks
 * may differ by SKEW more or less than the time between them.
 *
 *   here                     there (modules/redis/worker_scripts.hpp; redis.cpp)
 *   Server                   what one server holds: the hash idgen-workers, and the worker's own
 *   replid                   master_replid: another one with each promotion and restart
 *   settle()                 kWorkerSettle, RedisConnection::settle_worker(): kLeadMs + kSkewMs ahead of its clock
 *   read_row()               kWorkerRead, read_worker()
 *   replace()                kWorkerReplace, replace_worker()
 *   renew, take, request     WorkerRows::take() and read() (core/src/store/worker_rows.hpp)
 *   closing, returning       Supply::close(), WindowSource::release(), WorkerRows::give_back()
 *   the rest                 as in window.pml
 *
 * Times are in units of which the lead of 15 s has LEAD, the 2 s between clocks have SKEW, and a window has WIDTH. Left
 * out is what only refuses: a worker that is busy, a clock of a client that is ahead of the server's. */

#ifndef IMAGES
#define IMAGES 2 /* process images: those that were started, again after a crash too */
#endif
#ifndef LIVES
#define LIVES 3 /* of the server */
#endif
#ifndef TIME
#define TIME 4 /* the real time at which the model ends */
#endif
#ifndef DELETIONS
#define DELETIONS 1 /* of keys, by somebody else: of one, or all of them */
#endif
#ifndef LATE
#define LATE 1 /* 0: what is not answered in time has not arrived */
#endif
#define LEAD 3
#define SKEW 1
#define WIDTH 2
#define LEAST 1
#define TICKS (TIME + SKEW + LEAD) /* no window ends later, if the rules hold */
#ifdef SKEW_TOO_SMALL
#define ALLOWED_SKEW 0
#else
#define ALLOWED_SKEW SKEW
#endif

typedef Row {
  byte fence; /* 0: there is no row */
  byte owner; /* the nonce of an image; 0: nobody owns it */
  byte hw;
  byte label
};
#define SAME(a, b) (a.fence == b.fence && a.owner == b.owner && a.hw == b.hw)
#define SET(row_, fence_, owner_, hw_) row_.fence = fence_; row_.owner = owner_; row_.hw = hw_
#define COPY(to, from) SET(to, from.fence, from.owner, from.hw)

typedef Server {
  byte label; /* idgen-workers: label, 0 if there is no such hash; from; and whether the worker has a field */
  byte from;
  bool knows_worker;
  Row row
};

typedef Image {
  byte nonce; /* 0: there is none */
  byte fence; /* of its grant; 0: it will acquire */
  byte latest; /* where its latest window ends */
  byte used    /* from here to there nothing is issued, in one piece */
};
#define ME image[me]

Server server[2];
byte replid[2] = {1, 0}; /* 0: it is a replica */
byte master;             /* the server that clients talk to */
byte lives = 1;
byte deletions;
byte now;                /* real time */
Image image[2];
Row late_seen, late_asked; /* a request that was given up, and may arrive; late_asked.fence 0: none */
byte images;
int issued; /* bit T: an id with tick T has been issued */

#define ROW server[on].row
#define STORE server[on]

/* States that must be reachable. */
#ifdef REACH_ID_IN_THE_LAST_LIFE
#define REACHED_BY_ISSUE (lives == LIVES && server[master].row.fence > 1 && server[master].row.label == replid[master])
#endif
#ifdef REACH_ID_ABOVE_WHAT_A_FAILOVER_FORGOT
#define REACHED_BY_ISSUE (lives > 1 && deletions == 0 && issued != 0 && server[master].row.fence == 1)
#endif
#ifdef REACH_ID_AFTER_A_DELETED_ROW
#define REACHED_BY_ISSUE (deletions != 0 && lives == 1 && issued != 0 && server[master].row.fence == 1)
#endif
#ifndef REACHED_BY_ISSUE
#define REACHED_BY_ISSUE false
#endif

/* Nothing depends on when an id is issued. So all that will ever be issued out of a window is issued when it is
 * granted, up to any tick of it. What was issued later there, by an owner that had lost the worker, is then issued
 * earlier; if it is issued twice, the other time is the second one. */
#define TO(tick) ((1 << (tick)) - 1)
inline issue(from, to) {
  assert(!REACHED_BY_ISSUE || from == to);
  assert((issued & TO(to) & ~TO(from)) == 0); /* no id is issued twice */
  issued = issued | (TO(to) & ~TO(from))
}

/* Clients know one master. What happens if there are two is not covered: docs/stores.md. */
inline find_server() {
#ifdef TWO_MASTERS
  if
  :: on = master
  :: replid[1 - master] != 0 -> on = 1 - master
  fi
#else
  on = master
#endif
}

/* By a clock of the server that is as far behind as it may be: by another one, windows only begin later. */
inline settle() {
#ifdef REDIS_NO_LIFE_CHECK
  if
  :: STORE.label == 0 -> STORE.label = replid[on]; STORE.from = now + LEAD + ALLOWED_SKEW
  :: else
  fi;
#else
  if
  :: STORE.label != replid[on] -> STORE.label = replid[on]; STORE.from = now + LEAD + ALLOWED_SKEW
  :: else
  fi;
#endif
  if
#ifndef REDIS_NO_LIFE_CHECK
  :: ROW.fence != 0 && ROW.label != replid[on] ->
     SET(ROW, ROW.fence + 1, 0, (ROW.hw < STORE.from -> STORE.from : ROW.hw));
     ROW.label = replid[on]
#endif
#ifndef DELETED_ROW_STARTS_OVER
  :: ROW.fence == 0 && STORE.knows_worker ->
     STORE.from = now + LEAD + ALLOWED_SKEW;
     STORE.knows_worker = false
#endif
  :: else
  fi
}

/* Where the first window of a worker without a row begins. */
#ifdef NEW_ROW_STARTS_AT_ZERO
#define FIRST_HW 0
#else
#define FIRST_HW STORE.from
#endif
inline read_row() {
  COPY(seen, ROW);
  if
  :: ROW.fence == 0 -> seen.hw = FIRST_HW
  :: else
  fi
}

inline ask() {
  start = (seen.hw > clock -> seen.hw : clock);
  SET(asked, (ME.fence != 0 -> ME.fence : seen.fence + 1), ME.nonce,
      (start + LEAST > clock + WIDTH -> start + LEAST : clock + WIDTH))
}

/* By a clock of the server that is as far ahead as it may be: it only refuses less. */
inline replace(seen_, to, is_asked) {
  is_replaced = (ROW.fence != 0 -> SAME(ROW, seen_) :
                 seen_.fence == 0 && seen_.owner == 0 && seen_.hw == FIRST_HW);
#ifndef REPLACE_WITHOUT_LABEL
#ifndef REDIS_NO_LIFE_CHECK
  is_replaced = is_replaced && (ROW.fence == 0 || ROW.label == replid[on]) &&
                (!is_asked || STORE.label == replid[on]);
#endif
#endif
#ifndef REPLACE_OVERLOOKS_DELETIONS
  is_replaced = is_replaced && (!is_asked || ROW.fence != 0 || !STORE.knows_worker);
#endif
#ifndef REDIS_NO_LEAD
  is_replaced = is_replaced && (!is_asked || to.hw <= now + SKEW + LEAD);
#endif
  if
  :: is_replaced -> COPY(ROW, to); ROW.label = replid[on]; STORE.knows_worker = true
  :: else
  fi
}

inline send_late() {
  if
  :: LATE -> COPY(late_seen, seen); COPY(late_asked, asked)
  :: else
  fi
}

inline accept() {
  ME.fence = asked.fence;
  if
  :: start < ME.latest -> /* I7, STORE_REGRESSED: nothing is issued any more */
#ifndef FAULT
     assert(false); /* never, as long as the rules hold */
#endif
     ME.used = ME.latest
  :: start >= ME.latest && ME.used < ME.latest && start == ME.latest -> ME.latest = asked.hw
  :: start >= ME.latest && ME.used < ME.latest && start > ME.latest -> ME.latest = asked.hw; ME.used = start
  :: start >= ME.latest && ME.used == ME.latest ->
     ME.used = start;
     ME.latest = asked.hw;
     do
     :: ME.used < ME.latest -> ME.used++
     :: break
     od;
     issue(start, ME.used)
  fi
}

inline clear() {
  SET(seen, 0, 0, 0);
  SET(asked, 0, 0, 0);
  start = 0; clock = 0; on = 0; is_replaced = false
}

inline end_image() {
  ME.nonce = 0; ME.fence = 0; ME.latest = 0; ME.used = 0
}

proctype Process(byte me) {
  Row seen;  /* the row that a request is decided by */
  Row asked; /* the row that is to follow */
  byte start, clock, on;
  bool is_replaced;

start_image:
  if
  :: d_step { images < IMAGES && (images > 0 || me == 0) -> images++; ME.nonce = images }
  :: images == IMAGES -> goto over
  fi;

draw:
  do
  :: ME.fence != 0 -> goto renew
  :: goto take
  :: ME.fence != 0 -> goto closing
  :: d_step { true -> end_image() } -> goto start_image /* a crash */
  od;

take:
  atomic {
    find_server();
    d_step { settle(); on = 0 }
  };
  atomic {
    find_server();
    d_step { read_row(); on = 0 };
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
    SET(seen, ME.fence, ME.nonce, ME.latest);
request: /* what happens between asking and the server's step might as well happen before */
    find_server();
    clock = (seen.hw >= LEAST -> seen.hw - LEAST : 0); /* of the client; what is before makes no difference */
    do
    :: clock < TICKS - WIDTH -> clock++
    :: break
    od;
    ask();
    clock = 0;
    if
    :: asked.hw > TICKS -> clear(); goto draw /* beyond what is modelled */
    :: asked.hw <= TICKS ->
       replace(seen, asked, true);
       if
       :: is_replaced -> accept(); clear(); goto draw
       :: else -> clear(); goto take
       fi
    :: asked.hw <= TICKS -> replace(seen, asked, true); clear(); goto draw /* the answer is lost */
    :: asked.hw <= TICKS -> send_late(); clear(); goto draw                /* the request is lost, or late */
    fi
  };

/* Whoever does not know where its grant began gives less back, or nothing: WorkerRows::began_. */
closing:
  atomic {
    if
    :: true
    :: ME.used = ME.latest
    fi
  };
returning:
  atomic {
    find_server();
    read_row();
    if
    :: seen.fence != ME.fence || seen.owner == 0 -> clear(); end_image(); goto start_image /* somebody else's by now */
    :: else ->
#ifdef REACH_A_FORMER_OWNER_ENDS_ANOTHERS_LEASE
       assert(seen.owner == ME.nonce);
#endif
       SET(asked, seen.fence, 0, (seen.hw == ME.latest -> ME.used : seen.hw));
       on = 0
    fi
  };
  atomic {
    find_server();
    if
    :: true ->
       replace(seen, asked, false);
       if
       :: is_replaced
       :: else -> SET(seen, 0, 0, 0); SET(asked, 0, 0, 0); on = 0; goto returning
       fi
    :: true -> send_late()
    fi;
    clear();
    end_image();
    goto start_image
  };

over:
  skip
}

proctype World() {
  byte on;
  bool is_replaced;

end:
  do
  :: d_step { now < TIME -> now++ }
  :: d_step { /* replication; after the last failover nobody asks for it */
       lives < LIVES && !(SAME(server[0].row, server[1].row) && server[0].row.label == server[1].row.label &&
         server[0].label == server[1].label && server[0].from == server[1].from &&
         server[0].knows_worker == server[1].knows_worker) ->
       on = 1 - master;
       replid[on] = 0;
       COPY(ROW, server[master].row); ROW.label = server[master].row.label;
       STORE.label = server[master].label; STORE.from = server[master].from;
       STORE.knows_worker = server[master].knows_worker;
       on = 0
     }
  :: d_step { /* a failover */
       lives < LIVES ->
       lives++;
#ifndef TWO_MASTERS
       replid[master] = 0;
#endif
       master = 1 - master;
       replid[master] = lives;
#ifndef TWO_MASTERS
       if
       :: lives == LIVES ->
          on = 1 - master;
          SET(ROW, 0, 0, 0); ROW.label = 0; STORE.label = 0; STORE.from = 0; STORE.knows_worker = false;
          on = 0
       :: else
       fi
#endif
     }
  :: d_step { /* FLUSHALL */
       deletions < DELETIONS ->
       deletions++;
       on = master;
       SET(ROW, 0, 0, 0); ROW.label = 0; STORE.label = 0; STORE.from = 0; STORE.knows_worker = false;
       on = 0
     }
  :: d_step { /* DEL of the worker's row */
       deletions < DELETIONS && server[master].row.fence != 0 ->
       deletions++;
       on = master;
       SET(ROW, 0, 0, 0); ROW.label = 0;
       on = 0
     }
  :: d_step { /* DEL idgen-workers */
       deletions < DELETIONS ->
       deletions++;
       on = master;
       STORE.label = 0; STORE.from = 0; STORE.knows_worker = false;
       on = 0
     }
  :: d_step { /* what nobody waits for any more arrives */
       late_asked.fence != 0 ->
       on = master;
       replace(late_seen, late_asked, late_asked.owner != 0);
       SET(late_seen, 0, 0, 0); SET(late_asked, 0, 0, 0);
       on = 0;
       is_replaced = false
     }
  od
}

init {
  atomic {
    run Process(0);
    run Process(1);
    run World()
  }
}
