package dev.idgen;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Calls every native, with valid and invalid arguments. Prints only that it got to the end: anything else was printed
 * by the JVM. */
final class Exercise {
  private Exercise() {}

  public static void main(String[] arguments) {
    var builder =
        Generator.builder().kind("segment").store("sqlite:ids.db").directory(Path.of(arguments[0])).tag("orders");
    builder.createSegment();
    builder.showSegment();
    builder.advanceSegment(10);
    builder.listSegments();
    var layout = Layout.parse("default");
    layout.encode(layout.decode(1));
    layout.info();
    layout.fields();
    for (IdText form : IdText.values()) form.parse(form.format(Long.MAX_VALUE));
    Layout.presets();
    Idgen.properties();
    Idgen.version();
    fails(() -> Idgen.names(Path.of("none.toml")));
    fails(() -> Generator.builder().store("sqlite:none.db").listSegments());
    fails(() -> Generator.open(Path.of("none.toml"), "orders"));
    fails(() -> Generator.builder().set("none", "x".repeat(1000)).build());
    fails(() -> Layout.parse("none"));
    fails(() -> layout.decode(-1));
    fails(() -> layout.encode(Parts.of(Map.of(Field.WORKER, -1L))));
    fails(() -> IdText.HEX.parse("none"));
    var ids = builder.log((level, message) -> {}).build();
    ids.next();
    ids.tryNext();
    ids.fill(new long[3000]);
    ids.nextBlock(10);
    ids.decode(5);
    ids.layout();
    ids.describe();
    ids.stats();
    Generator.metrics(ids, ids);
    Generator.metrics();
    ids.close();
    fails(ids::next);
    fails(ids::tryNext);
    fails(() -> ids.fill(new long[3000]));
    fails(() -> ids.nextBlock(10));
    try (var slow = builder.kind("snowflake")
                        .worker(1)
                        .layout("time:32s worker:30 sequence:1")
                        .waitMax(Duration.ofSeconds(30))
                        .build()) {
      Thread.currentThread().interrupt();
      fails(() -> slow.fill(new long[100]));
      fails(() -> slow.nextBatch(100));
    }
    System.out.println("done");
  }

  private static void fails(Runnable call) {
    try {
      call.run();
    } catch (IdgenException expected) {
      return;
    }
    throw new AssertionError("did not fail");
  }
}
