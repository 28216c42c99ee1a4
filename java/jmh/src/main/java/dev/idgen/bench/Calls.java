package dev.idgen.bench;

import dev.idgen.Generator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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
  private static final String LAYOUT = "time:41ms sequence:22";

  private final AtomicLong counter = new AtomicLong();
  private final long[] batch = new long[BATCH];
  private Generator segment;
  private Generator snowflake;
  private long segmentInC;
  private long snowflakeInC;

  /** Opens all generators on the memory store. */
  @Setup
  public void open() {
    segment = Generator.builder().kind("segment").store("memory").storeCreate(true).segmentStep(100_000_000).build();
    snowflake = Generator.builder().layout(LAYOUT).store("memory").storeCreate(true).build();
    segmentInC = Floor.open(true);
    snowflakeInC = Floor.open(false);
    if (segmentInC == 0 || snowflakeInC == 0) throw new IllegalStateException("the generators in C could not be made");
  }

  /** Gives the reservations back. The generators in C end with this JVM. */
  @TearDown
  public void close() {
    segment.close();
    snowflake.close();
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
}
