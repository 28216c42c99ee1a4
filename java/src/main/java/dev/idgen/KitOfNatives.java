package dev.idgen;

import dev.idgen.internal.Kit;
import java.lang.ref.Reference;
import java.time.InstantSource;
import java.util.function.LongFunction;

/** The kit for tests, by the natives. */
final class KitOfNatives extends Kit {
  @Override
  public Generator build(Generator.Builder builder, long start, long sequence, LongFunction<InstantSource> clock) {
    return builder.build(
        null,
        config -> {
          var firstUnixMs = new long[1];
          IdgenJNI.idgen_test_begin(config, start, sequence, firstUnixMs);
          return clock.apply(firstUnixMs[0]);
        });
  }

  @Override
  public void failNext(Generator generator, long calls, int status) {
    IdgenJNI.idgen_test_fail_next(generator.handle, calls, status, 0);
    Reference.reachabilityFence(generator);
  }

  @Override
  public void failAfter(Generator generator, long ids, int status) {
    IdgenJNI.idgen_test_fail_after(generator.handle, ids, status, 0);
    Reference.reachabilityFence(generator);
  }

  @Override
  public void recover(Generator generator) {
    IdgenJNI.idgen_test_recover(generator.handle);
    Reference.reachabilityFence(generator);
  }
}
