package dev.idgen.bench;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.NoArgGenerator;
import dev.idgen.Generator;
import dev.idgen.IdCipher;
import dev.idgen.IdKey;
import dev.idgen.Layout;
import dev.idgen.Route;
import dev.idgen.RouteRange;
import dev.idgen.RouteTable;
import dev.idgen.Router;
import dev.idgen.Standard;
import dev.idgen.StandardIds;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Time per id, for every call. All snowflakes have a 22-bit sequence, so that the format's cap has no effect.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Calls {
  private static final int BATCH = 1024;
  private static final String OWNER = "customer-0012345"; // 16 bytes
  private static final String LAYOUT = "time:41ms sequence:22";

  private final AtomicLong counter = new AtomicLong();
  private final long[] batch = new long[BATCH];
  private final long[] owners = LongStream.range(0, BATCH).map(number -> 1_234_567_890_000_000L + number).toArray();
  private Generator segment;
  private Generator snowflake;
  private Generator business;
  private Router router;
  private IdCipher cipher;
  private long id;
  private final long[] ids = new long[BATCH];
  private final int[] shards = new int[BATCH];
  private final int[] seconds = new int[BATCH];
  private final UUID[] uuids = new UUID[BATCH];
  private final NoArgGenerator otherUuid7 = Generators.timeBasedEpochGenerator();
  private long segmentInC;
  private long snowflakeInC;

  /** Opens all generators on the memory store. */
  @Setup
  public void open() {
    segment = Generator.builder().kind("segment").store("memory").storeCreate(true).segmentStep(100_000_000).build();
    snowflake = Generator.builder().layout(LAYOUT).store("memory").storeCreate(true).build();
    business = Generator.builder()
        .kind("business")
        .store("memory")
        .storeCreate(true)
        .tag("business")
        .segmentStep(100_000_000)
        .build();
    var names = IntStream.range(0, 64).mapToObj(n -> "db" + n).toList();
    var ranges = IntStream.range(0, 64).mapToObj(n -> new RouteRange(1024 * n + 1023, "db" + n)).toList();
    router = Router.of(
        RouteTable.of(1, 16, names, ranges, List.of()), new Router.Options().layout(Layout.parse("business64")));
    cipher = Generator.builder()
        .layout("business64")
        .store("memory")
        .keys(() -> List.of(new IdKey(1, new byte[32])))
        .buildCipher();
    id = business.nextFor(OWNER);
    business.fillForEach(owners, ids);
    segmentInC = Floor.open(true);
    snowflakeInC = Floor.open(false);
    if (segmentInC == 0 || snowflakeInC == 0) throw new IllegalStateException("the generators in C could not be made");
  }

  /** Gives the reservations back. The generators in C end with this JVM. */
  @TearDown
  public void close() {
    segment.close();
    snowflake.close();
    business.close();
  }

  @Benchmark
  public long atomicLong() {
    return counter.getAndIncrement();
  }

  @Benchmark
  public long emptyJni() {
    return Floor.empty(1);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long coreSegment() {
    return Floor.draw(segmentInC, BATCH);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long coreSnowflake() {
    return Floor.draw(snowflakeInC, BATCH);
  }

  @Benchmark
  public long nextSegment() {
    return segment.next();
  }

  @Benchmark
  public long nextSnowflake() {
    return snowflake.next();
  }

  @Benchmark
  public long nextForInt() {
    return business.nextFor(1_234_567_890_123_456L);
  }

  @Benchmark
  public long nextForString() {
    return business.nextFor(OWNER);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] fillForEachInt() {
    business.fillForEach(owners, batch);
    return batch;
  }

  @Benchmark
  public Route route() {
    return router.route(id);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public int[] routeBatch() {
    router.routeBatch(ids, shards, seconds);
    return shards;
  }

  @Benchmark
  public long hide() {
    return cipher.hide(id);
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] hideAll() {
    System.arraycopy(ids, 0, batch, 0, BATCH);
    cipher.hideAll(batch);
    return batch;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] fillSegment() {
    segment.fill(batch);
    return batch;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long[] fillSnowflake() {
    snowflake.fill(batch);
    return batch;
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long coreUuid7() {
    return Floor.drawStandard(Standard.UUID7.ordinal(), BATCH);
  }

  @Benchmark
  public UUID uuid4() {
    return StandardIds.uuid4();
  }

  @Benchmark
  public UUID uuid7() {
    return StandardIds.uuid7();
  }

  @Benchmark
  @OperationsPerInvocation(BATCH)
  public UUID[] fillUuid7() {
    StandardIds.fillUuid7(uuids);
    return uuids;
  }

  @Benchmark
  public String ulid() {
    return StandardIds.ulid();
  }

  @Benchmark
  public String objectId() {
    return StandardIds.objectId();
  }

  @Benchmark
  public UUID javaUuid4() {
    return UUID.randomUUID();
  }

  @Benchmark
  public UUID otherUuid7() {
    return otherUuid7.generate();
  }
}
