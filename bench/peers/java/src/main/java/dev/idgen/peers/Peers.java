package dev.idgen.peers;

import cn.hutool.core.lang.Snowflake;
import com.baomidou.mybatisplus.core.toolkit.Sequence;
import com.github.f4b6a3.tsid.TsidFactory;
import com.github.yitter.contract.IdGeneratorOptions;
import com.github.yitter.idgen.DefaultIdGenerator;
import dev.idgen.Generator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import me.ahoo.cosid.segment.DefaultSegmentId;
import me.ahoo.cosid.segment.IdSegmentDistributor;
import me.ahoo.cosid.segment.SegmentChainId;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.agrona.concurrent.SnowflakeIdGenerator;
import org.agrona.concurrent.SystemEpochClock;

/**
 * Ids of idgen and of other libraries, by their public calls, in one process: Peers CONTEST ROUNDS. Prints a JSON
 * object: the wall time of an id in ns, by contest and subject. The subjects take turns, on one thread and on two. A
 * contest has a process of its own, because a call compiled for segments and snowflakes at once is slower with both.
 *
 * <p>counter: segments, beside an AtomicLong. snowflake: as many bits of sequence as never run out, beside a clock and
 * a compare-and-set. burst: 12 bits, half of a millisecond's ids at once, so that nobody waits. batch: arrays of 1024,
 * which none of the others has.
 */
public final class Peers {
  private static final int CALLS = 512_000;
  private static final int SEGMENT = 1_000_000; // a refill is not what is compared; all of them lie in memory
  private static final int BATCH = 1024; // of which CALLS is a multiple
  private static final int BURST = 2048;
  private static final int BURSTS = 20;
  private static final int WARM_UP = 3; // rounds
  private static final long EPOCH_MS = 1_735_689_600_000L;

  /** Draws that many, and returns what depends on all of them. Each subject has a loop of its own to be compiled. */
  private interface Loop {
    long draw(int count);
  }

  private static volatile long sink;
  private static final Map<String, Map<String, Loop>> CONTESTS = new LinkedHashMap<>();

  private Peers() {}

  private static void add(String contest, String subject, Loop loop) {
    CONTESTS.computeIfAbsent(contest, name -> new LinkedHashMap<>()).put(subject, loop);
  }

  private static Generator.Builder onMemory(String name) {
    return Generator.builder().store("memory:peers").storeCreate(true).namespace(name);
  }

  private static void addCounters() {
    var bare = new AtomicLong();
    add("counter", "AtomicLong", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= bare.getAndIncrement();
      return all;
    });
    var ours =
        onMemory("counter").kind("segment").tag("peers").segmentStep(SEGMENT).segmentRunway(Duration.ZERO).build();
    add("counter", "idgen", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= ours.next();
      return all;
    });
    var plain = new DefaultSegmentId(new IdSegmentDistributor.Atomic(SEGMENT));
    add("counter", "CosId, DefaultSegmentId", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= plain.generate();
      return all;
    });
    var chain = new SegmentChainId(new IdSegmentDistributor.Atomic(SEGMENT));
    add("counter", "CosId, SegmentChainId", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= chain.generate();
      return all;
    });
  }

  private static void addSnowflakes() {
    var last = new AtomicLong();
    add("snowflake", "clock + compare-and-set", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) {
        long floor = System.currentTimeMillis() - EPOCH_MS << 22;
        long seen = last.get();
        long next;
        while (!last.compareAndSet(seen, next = Math.max(seen + 1, floor))) seen = last.get();
        all ^= next;
      }
      return all;
    });
    var ours = onMemory("snowflake").layout("time:40ms worker:1 sequence:22").worker(1).build();
    add("snowflake", "idgen", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= ours.next();
      return all;
    });
    var agrona = new SnowflakeIdGenerator(1, 21, 1, EPOCH_MS, SystemEpochClock.INSTANCE); // 22 bits in all, at most
    add("snowflake", "Agrona", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= agrona.nextId();
      return all;
    });
    var cosid = new MillisecondSnowflakeId(EPOCH_MS, 40, 1, 22, 1);
    add("snowflake", "CosId", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= cosid.generate();
      return all;
    });
  }

  private static void addBursts() {
    var ours = onMemory("burst").layout("time:41ms worker:10 sequence:12").worker(1).build();
    add("burst", "idgen", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= ours.next();
      return all;
    });
    var cosid = new MillisecondSnowflakeId(EPOCH_MS, 41, 10, 12, 1);
    add("burst", "CosId", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= cosid.generate();
      return all;
    });
    var agrona = new SnowflakeIdGenerator(10, 12, 1, EPOCH_MS, SystemEpochClock.INSTANCE);
    add("burst", "Agrona", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= agrona.nextId();
      return all;
    });
    var hutool = new Snowflake(1, 1);
    add("burst", "hutool", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= hutool.nextId();
      return all;
    });
    var mybatis = new Sequence(1, 1); // reads no clock, but a time that a thread of its own refreshes
    add("burst", "MyBatis-Plus", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= mybatis.nextId();
      return all;
    });
    var tsid = TsidFactory.newInstance1024(1);
    add("burst", "tsid-creator", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= tsid.create().toLong();
      return all;
    });
    var options = new IdGeneratorOptions((short) 1);
    options.WorkerIdBitLength = 10;
    options.SeqBitLength = 12;
    var yitter = new DefaultIdGenerator(options);
    add("burst", "yitter", n -> {
      long all = 0;
      for (int i = 0; i < n; i++) all ^= yitter.newLong();
      return all;
    });
  }

  private static void addBatches() {
    var counter = onMemory("counter").kind("segment").tag("peers").segmentStep(SEGMENT).segmentRunway(Duration.ZERO);
    var snowflake = onMemory("snowflake").layout("time:40ms worker:1 sequence:22").worker(1);
    for (var each : Map.of("idgen, counter", counter, "idgen, snowflake", snowflake).entrySet()) {
      var ours = each.getValue().build();
      add("batch", each.getKey(), n -> {
        var ids = new long[BATCH];
        for (int i = 0; i < n; i += BATCH) ours.fill(ids);
        return ids[0];
      });
    }
  }

  /** ns of a thread's draws; those of bursts begin with a tick. */
  private static long run(Loop loop, int threads, boolean inBursts) {
    if (!inBursts) {
      long begun = System.nanoTime();
      sink ^= loop.draw(CALLS);
      return System.nanoTime() - begun;
    }
    long took = 0;
    for (int i = 0; i < BURSTS; i++) {
      long before = System.currentTimeMillis();
      while (System.currentTimeMillis() == before) Thread.onSpinWait();
      long begun = System.nanoTime();
      sink ^= loop.draw(BURST / threads);
      took += System.nanoTime() - begun;
    }
    return took;
  }

  /** ns an id. */
  private static double cost(Loop loop, int threads, boolean inBursts) throws Exception {
    var took = new AtomicLong();
    var start = new CyclicBarrier(threads);
    var all = new Thread[threads];
    for (int t = 0; t < threads; t++) {
      all[t] = new Thread(() -> {
        try {
          start.await();
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
        took.accumulateAndGet(run(loop, threads, inBursts), Math::max);
      });
      all[t].start();
    }
    for (var thread : all) thread.join();
    int drawn = inBursts ? BURSTS * BURST : threads * CALLS;
    return took.get() / (double) drawn;
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[1]);
    switch (arguments[0]) {
      case "counter" -> addCounters();
      case "snowflake" -> addSnowflakes();
      case "burst" -> addBursts();
      case "batch" -> addBatches();
      default -> throw new IllegalArgumentException("no such contest: " + arguments[0]);
    }
    Map<String, List<Double>> ns = new LinkedHashMap<>();
    for (int round = -WARM_UP; round < rounds; round++) {
      for (int threads = 1; threads <= 2; threads++) {
        for (var contest : CONTESTS.entrySet()) {
          for (var subject : contest.getValue().entrySet()) {
            double found = cost(subject.getValue(), threads, contest.getKey().equals("burst"));
            if (round < 0) continue;
            String name = contest.getKey() + " " + threads + " " + subject.getKey();
            ns.computeIfAbsent(name, key -> new ArrayList<>()).add(found);
          }
        }
      }
    }
    System.out.println(
        ns.entrySet().stream()
            .map(entry -> "\"" + entry.getKey() + "\": " + entry.getValue())
            .collect(Collectors.joining(", ", "{\"ns\": {", "}}")));
    System.exit(0); // threads of others are left
  }
}
