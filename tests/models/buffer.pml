/* The buffer: a queue of granted numbers in Redis, in front of a database. How to run it and what it shows:
 * docs/models.md.
 *
 * Redis may forget anything at any time: two servers, each of which may be promoted while the other is a master too (a
 * split brain), hold what was replicated at some moment, and be flushed. Every client may talk to either master at each
 * call. Every request and every answer may be lost, Redis and the database may be down, and a load may arrive at any
 * time later, at any server, any number of times. A process may crash: its next one knows nothing.
 *
 *   here                  there
 *   Queue                 the hash of a tag (modules/redis/queue_scripts.hpp): life, entries, witness, stopped
 *   replid, ALIVE         master_replid; kQueuePrelude: a life of another replication id is none
 *   begin_life()          begin_life: the label is the replication id and the moment
 *   take, look()          kQueueTake, called by BufferStore::segment_grant() (core/src/store/buffer_store.cpp)
 *   arrive()              kQueueLoad
 *   grant()               BufferStore::draw(); for a caller if Redis did not answer, or had nothing, and ahead of need
 *                         in load_ahead()
 *   sent[first]           BufferStore::load(): once for each grant
 *   floor, highest        BufferStore::Tag
 *
 * A take gives one number, any one that is above `floor`. One that takes several is several of these. In what order
 * entries are used up, where they are split and how many there may be only chooses among them. */

#ifndef NUMBERS
#define NUMBERS 6 /* that the database can grant; at most 7 */
#endif
#ifndef REPLIDS
#define REPLIDS 3 /* promotions and restarts, the first server included */
#endif
#ifndef FLUSHES
#define FLUSHES 1
#endif
#define PROCESSES 2

typedef Queue {
  byte life;        /* the label; 0: there is none */
  byte life_replid; /* the part of it that is the replication id */
  short entries;    /* bit N: the number N */
  byte witness;
  bool stopped
};

typedef Load {
  byte label; /* 0: never sent */
  byte count
};

typedef Client {
  byte floor;     /* the highest number that was granted to it */
#ifdef DATABASE_GOES_BACK
  byte highest;   /* that it knows the database to have granted */
#endif
  byte label;     /* a draw is under way, under this label; NONE: Redis did not answer; 0: there is no draw */
  byte ahead;     /* a load ahead of need is under way, under this label; 0: there is none */
  bool stopped
};
#define NONE 255

Queue server[2];
byte replid[2] = {1, 0}; /* 0: a replica */
byte replids = 1;
byte flushes;
byte database;           /* the highest number granted */
Load sent[8];            /* under the first number of each */
Client client[PROCESSES];
short issued;            /* bit N: the number N has been issued */

#define HERE server[on]
#define ME client[me]
#define MAX(a, b) ((a) > (b) -> (a) : (b))

#ifdef DATABASE_GOES_BACK
/* To an earlier state, once. What a single Redis, which forgets nothing and answers everybody, can notice of that. */
bool gone_back;
#ifdef WHILE_REDIS_KNOWS_ALL
#define REDIS_KNOWS_ALL \
  (client[0].label == 0 && client[0].ahead == 0 && client[1].label == 0 && client[1].ahead == 0 && \
   (issued & ~TO(server[0].witness)) == 0 && sent[1].label + sent[2].label + sent[3].label + sent[4].label + \
   sent[5].label + sent[6].label + sent[7].label == 0)
#else
#define REDIS_KNOWS_ALL true
#endif
#endif

/* All numbers up to n. */
#define TO(n) ((1 << ((n) + 1)) - 1)

/* Whether what a server holds is of its present life. */
#ifdef BUFFER_KEEPS_STOCK
#define ALIVE(on) (server[on].life != 0)
#else
#define ALIVE(on) (server[on].life != 0 && server[on].life_replid == replid[on])
#endif
/* Whether a server would take a load. */
#ifdef BUFFER_NO_LABEL
#define SAME_LABEL(on, label_) true
#else
#define SAME_LABEL(on, label_) (server[on].life == label_)
#endif
#ifdef BUFFER_NO_WITNESS
#define ABOVE_WITNESS(on, first_) true
#else
#define ABOVE_WITNESS(on, first_) (server[on].witness < first_)
#endif
#define TAKES(on, first_, label_) \
  (ALIVE(on) && !server[on].stopped && SAME_LABEL(on, label_) && ABOVE_WITNESS(on, first_))

/* States that must be reachable. */
#ifdef REACH_FROM_REDIS_AFTER_FAILOVER
#define REACHED_BY_TAKE (replid[on] == REPLIDS)
#endif
#ifdef REACH_FROM_BOTH_MASTERS
bool taken_from[2];
#define REACHED_BY_TAKE (taken_from[1 - on] && replid[0] != 0 && replid[1] != 0)
#endif
#ifdef REACH_FROM_REDIS_AFTER_FLUSH
#define REACHED_BY_TAKE (flushes != 0 && replid[on] == 1 && HERE.life != 1)
#endif
#ifdef REACH_WHAT_ONE_CLIENT_HAS_PASSED
#define REACHED_BY_TAKE (n < client[1 - me].floor)
#endif
#ifndef REACHED_BY_TAKE
#define REACHED_BY_TAKE false
#endif

#ifdef DATABASE_GOES_BACK
#define KNOW(number) ME.highest = MAX(ME.highest, number)
#else
#ifdef FAULT
#define KNOW(number) skip
#else
#define KNOW(number) assert(number <= database) /* nobody is stopped without reason */
#endif
#endif

inline issue(number) {
  assert(!(issued >> (number) & 1)); /* no number is issued twice */
  issued = issued | 1 << (number);
  ME.floor = number
}

#define IS_KNOWN(label_) \
  (label_ == server[0].life || label_ == server[1].life || label_ == client[0].label || label_ == client[0].ahead || \
   label_ == client[1].label || label_ == client[1].ahead || label_ == sent[1].label || label_ == sent[2].label || \
   label_ == sent[3].label || label_ == sent[4].label || label_ == sent[5].label || label_ == sent[6].label || \
   label_ == sent[7].label)
inline begin_life() {
#ifdef LABEL_WITHOUT_MOMENT
  HERE.life = replid[on];
#else
  life = 1; /* a new one */
  do
  :: IS_KNOWN(life) -> life++
  :: else -> break
  od;
  HERE.life = life;
  life = 0;
#endif
  HERE.life_replid = replid[on];
  HERE.entries = 0
}

inline took() {
  assert(!REACHED_BY_TAKE);
#ifdef REACH_FROM_BOTH_MASTERS
  taken_from[on] = true;
#endif
  KNOW(HERE.witness);
  issue(n)
}

/* A take, up to the choice of a number. */
inline look() {
  if
  :: !ALIVE(on) -> begin_life()
  :: else
  fi;
  HERE.witness = MAX(HERE.witness, ME.floor)
}

#define IS_FREE(number) (number > ME.floor && (HERE.entries >> number & 1))

inline arrive(load) {
  if
  :: TAKES(on, load, sent[load].label) ->
     HERE.entries = HERE.entries | (TO(load + sent[load].count - 1) & ~TO(load - 1));
     HERE.witness = MAX(HERE.witness, load + sent[load].count - 1)
  :: else
  fi
}

/* What can make no difference any more is forgotten: loads that no server would take, now or later (a life begins once,
 * and its witness only rises); what a server holds of another life, which the next script drops; that a number was
 * issued, if it is nowhere any more. */
#ifdef RETRY_LOAD_UNDER_A_NEW_LABEL
#define KEEPS_LOADS
#endif
#ifdef LABEL_WITHOUT_MOMENT
#define KEEPS_LOADS
#endif
inline forget(on_) {
  if
  :: !ALIVE(on_) -> server[on_].life = 0; server[on_].life_replid = 0; server[on_].entries = 0
  :: else
  fi
}
#define SENT(first) (sent[first].label != 0 -> TO(first + sent[first].count - 1) & ~TO(first - 1) : 0)
inline forget_lost() {
  forget(0);
  forget(1);
  gone = TO(database) & ~server[0].entries & ~server[1].entries;
  n = 1;
  do
  :: n <= NUMBERS ->
     if
#ifndef KEEPS_LOADS
     :: sent[n].label != 0 && !TAKES(0, n, sent[n].label) && !TAKES(1, n, sent[n].label) ->
        sent[n].label = 0; sent[n].count = 0
#endif
     :: else
     fi;
     gone = gone & ~SENT(n);
     n++
  :: else -> break
  od;
#ifndef DATABASE_GOES_BACK
  issued = issued & ~gone;
#endif
  gone = 0; n = 0
}
/* What the database grants in one draw: `taken` numbers for the caller, 0 or 1, and a stock. */
inline grant(taken, stock, label_) {
  first = database + 1;
  database = database + taken + stock;
  if
#ifdef DATABASE_GOES_BACK
  :: first <= ME.highest -> /* STORE_REGRESSED, for all */
     ME.stopped = true;
     server[0].stopped = true;
     server[0].entries = 0;
     server[0].witness = MAX(ME.highest, database)
#endif
  :: else ->
     KNOW(database);
     if
     :: stock != 0 -> sent[first + taken].label = label_; sent[first + taken].count = stock
     :: else
     fi;
     if
     :: taken != 0 -> issue(first)
     :: else
     fi
  fi;
  first = 0
}

proctype Process(byte me) {
  byte on, n, first, life;
  short gone;

end:
  do
#ifndef ALL_SEE_REDIS
  :: d_step { ME.label == 0 && !ME.stopped -> ME.label = NONE } /* a take, while Redis is down */
#endif
  :: atomic { /* a take */
       ME.label == 0 && !ME.stopped ->
       if
       :: replid[0] != 0 -> on = 0
       :: replid[1] != 0 -> on = 1
       fi;
       d_step { look() };
       if
       :: IS_FREE(1) -> n = 1
       :: IS_FREE(2) -> n = 2
       :: IS_FREE(3) -> n = 3
       :: IS_FREE(4) -> n = 4
       :: IS_FREE(5) -> n = 5
       :: IS_FREE(6) -> n = 6
       :: IS_FREE(7) -> n = 7
#ifdef BUFFER_SELF_EXTENDS
       :: (HERE.entries & ~TO(ME.floor)) == 0 && HERE.witness < NUMBERS -> /* 'version + 1' */
          HERE.witness++;
          n = HERE.witness
#endif
       :: (HERE.entries & ~TO(ME.floor)) == 0 /* nothing */
       fi;
       HERE.entries = HERE.entries & ~(n != 0 -> 1 << n : 0);
       if
#ifdef DATABASE_GOES_BACK
       :: HERE.stopped -> ME.stopped = true
#endif
#ifndef ALL_SEE_REDIS
       :: ME.label = NONE /* the answer is lost */
#endif
       :: n == 0 && !HERE.stopped -> d_step { KNOW(HERE.witness); ME.label = HERE.life }
       :: n != 0 -> d_step { took() }
       :: n != 0 && ME.ahead == 0 -> d_step { took(); ME.ahead = HERE.life }
       fi;
       d_step { n = 0; forget_lost(); on = 0 }
     }
  :: atomic {
       ME.label != 0 ->
       if
       :: true /* the database is down */
       :: database < NUMBERS -> database++ /* its answer is lost */
       :: database < NUMBERS -> grant(1, 0, 0)
       :: database + 1 < NUMBERS && ME.label != NONE -> grant(1, 1, ME.label)
       :: database + 2 < NUMBERS && ME.label != NONE -> grant(1, 2, ME.label)
       fi;
       d_step { ME.label = 0; forget_lost() }
     }
  :: atomic {
       ME.ahead != 0 ->
       if
       :: true
       :: database < NUMBERS -> grant(0, 1, ME.ahead)
       :: database + 1 < NUMBERS -> grant(0, 2, ME.ahead)
       fi;
       d_step { ME.ahead = 0; forget_lost() }
     }
  :: d_step { /* a crash */
       ME.floor != 0 ->
#ifdef DATABASE_GOES_BACK
       ME.highest = 0;
#endif
       ME.floor = 0; ME.label = 0; ME.ahead = 0; ME.stopped = false
     }
  od
}

proctype World() {
  byte on, n;
  short gone;

end:
  do
  :: atomic { /* a load arrives */
       if
       :: sent[1].label != 0 -> n = 1
       :: sent[2].label != 0 -> n = 2
       :: sent[3].label != 0 -> n = 3
       :: sent[4].label != 0 -> n = 4
       :: sent[5].label != 0 -> n = 5
       :: sent[6].label != 0 -> n = 6
       :: sent[7].label != 0 -> n = 7
       fi;
       if
       :: replid[0] != 0 -> on = 0
       :: replid[1] != 0 -> on = 1
       fi;
       d_step { arrive(n); forget_lost(); on = 0 }
     }
#ifdef DATABASE_GOES_BACK
  :: atomic {
       !gone_back && database > 0 && REDIS_KNOWS_ALL ->
       gone_back = true;
       do
       :: database > 0 -> database--
       :: break
       od
     }
#endif
#ifdef RETRY_LOAD_UNDER_A_NEW_LABEL /* by the sender, which does not know whether it arrived */
  :: d_step { sent[1].label != 0 && ALIVE(0) -> sent[1].label = server[0].life }
  :: d_step { sent[2].label != 0 && ALIVE(0) -> sent[2].label = server[0].life }
#endif
  :: atomic { /* replication; a master that follows another one is a master no more */
       if
       :: replid[0] != 0 -> on = 0
       :: replid[1] != 0 -> on = 1
       fi;
       d_step {
         server[1 - on].life = HERE.life; server[1 - on].life_replid = HERE.life_replid;
         server[1 - on].entries = HERE.entries; server[1 - on].witness = HERE.witness;
         server[1 - on].stopped = HERE.stopped;
         replid[1 - on] = 0;
         forget_lost();
         on = 0
       }
     }
  :: atomic { /* a replica is promoted, beside its master perhaps; or a server starts again */
       replids < REPLIDS;
       if
       :: on = 0
       :: on = 1
       fi;
       d_step { replids++; replid[on] = replids; forget_lost(); on = 0 }
     }
  :: atomic { /* FLUSHALL, an eviction, DEL */
       flushes < FLUSHES;
       if
       :: replid[0] != 0 -> on = 0
       :: replid[1] != 0 -> on = 1
       fi;
       d_step {
         flushes++;
         HERE.life = 0; HERE.life_replid = 0; HERE.entries = 0; HERE.witness = 0; HERE.stopped = false;
         forget_lost();
         on = 0
       }
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
