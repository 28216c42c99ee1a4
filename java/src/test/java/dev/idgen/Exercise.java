package dev.idgen;

import dev.idgen.testing.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Calls every native, with valid and invalid arguments. Prints only that it got to the end: anything else was printed
 * by the JVM. */
final class Exercise {
  private Exercise() {}

  public static void main(String[] arguments) {
    var builder =
        Generator.builder().kind("segment").store("sqlite:ids.db").directory(Path.of(arguments[0])).tag("orders");
    var admin = builder.admin();
    admin.createSegment();
    admin.showSegment();
    admin.advanceSegment(10);
    admin.listSegments();
    var layout = Layout.parse("default");
    layout.encode(layout.decode(1));
    layout.info();
    layout.fields();
    for (IdText form : IdText.values()) {
      form.parse(form.format(Long.MAX_VALUE));
      form.parseWide(form.format(WideId.of(1)));
      form.parseWide(form.format(WideId.of(new UUID(1, 2))));
    }
    Layout.presets();
    Idgen.properties();
    Idgen.version();
    fails(() -> Idgen.names(Path.of("none.toml")));
    fails(() -> Generator.builder().store("sqlite:none.db").admin().listSegments());
    fails(() -> Generator.open(Path.of("none.toml"), "orders"));
    fails(() -> Generator.builder().set("none", "x".repeat(1000)).build());
    fails(() -> Layout.parse("none"));
    fails(() -> layout.decode(-1));
    fails(() -> layout.encode(IdParts.of(Map.of(Field.WORKER, -1L))));
    fails(() -> IdText.HEX.parse("none"));
    fails(() -> IdText.HEX.parseWide("none"));
    var ids = builder.log((level, message) -> {}).build();
    ids.next();
    ids.nextText();
    ids.textPattern().parse(ids.textPattern().format(WideId.of(1)));
    fails(() -> ids.textPattern().parse("none"));
    fails(() -> TextPattern.of("{hex"));
    fails(() -> TextPattern.of("{0}").format(10));
    ids.tryNext();
    try (var events = Generator.builder().store("memory").worker(1).clock(new ManualClock()).build()) {
      events.fill(new long[10_000]); // and waits for the clock
    }
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
    fails(ids::nextText);
    fails(ids::tryNext);
    fails(() -> ids.fill(new long[3000]));
    fails(() -> ids.nextBlock(10));
    withOwners();
    try (var slow = builder.kind("snowflake")
                        .worker(1)
                        .layout("time:32s worker:30 sequence:1")
                        .waitMax(Duration.ofSeconds(30))
                        .build()) {
      Thread.currentThread().interrupt();
      fails(() -> slow.fill(new long[100]));
      fails(() -> slow.nextBatch(100));
      fails(() -> IntStream.range(0, 100).forEach(i -> slow.nextText()));
    }
    System.out.println("done");
  }

  private static void withOwners() {
    var wide = Layout.parse("business128");
    wide.encodeWide(wide.decode(WideId.of(new UUID(1, 2))));
    wide.gene("acme".repeat(100));
    fails(() -> wide.decode(WideId.of(1)));
    fails(() -> wide.encodeWide(IdParts.of(Map.of(Field.GENE, -1L))));
    fails(() -> wide.gene(""));
    var numbers = LongStream.range(0, 3000).toArray();
    var names = LongStream.range(0, 3000).mapToObj(number -> "a long name of customer number " + number);
    var texts = names.toArray(String[]::new);
    var ids = Generator.builder().kind("business").store("memory").storeCreate(true).build();
    for (var narrow : List.of(new long[0], new long[1], new long[3000])) {
      ids.fillFor(-5, narrow);
      ids.fillFor("acme", narrow);
      ids.fillForEach(Arrays.copyOf(numbers, narrow.length), narrow);
      ids.fillForEach(Arrays.copyOf(texts, narrow.length), narrow);
      var either = new WideId[narrow.length];
      ids.fillWideFor(-5, either);
      ids.fillWideFor("acme".repeat(10_000), either);
      ids.fillWideForEach(Arrays.copyOf(numbers, narrow.length), either);
      ids.fillWideForEach(Arrays.copyOf(texts, narrow.length), either);
    }
    ids.decode(ids.nextWideFor("acme"));
    ids.nextFor(5);
    ids.nextFor("acme".repeat(1000));
    ids.tryNextFor(5);
    ids.tryNextFor("acme");
    texts[2000] = "";
    fails(() -> ids.fillForEach(texts, new long[3000]));
    fails(() -> ids.fillWideForEach(texts, new WideId[3000]));
    fails(() -> ids.tryNextFor(""));
    fails(ids::next);
    ids.close();
    fails(() -> ids.nextFor(5));
    fails(() -> ids.nextFor("acme"));
    fails(() -> ids.tryNextFor(5));
    fails(() -> ids.fillFor(5, new long[3000]));
    fails(() -> ids.fillFor("acme", new long[3000]));
    fails(() -> ids.fillWideFor(5, new WideId[3000]));
    fails(() -> ids.fillWideFor("acme", new WideId[3000]));
    fails(() -> ids.decode(WideId.of(new UUID(1, 2))));
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
