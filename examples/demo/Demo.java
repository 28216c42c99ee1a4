// The demo's process in Java. demo.py says what the four do.

import dev.idgen.Generator;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;

class Demo {
  public static void main(String[] args) throws Exception {
    var toml = Path.of(args[0]);
    var overrides = Map.of("worker", args[1]);
    var seconds = Double.parseDouble(args[2]);
    var limit = Integer.parseInt(args[3]);
    var in = new BufferedReader(new InputStreamReader(System.in));
    Generator first = null;
    for (int i = 5; i < args.length; i++) {
      var generator = Generator.open(toml, args[i], overrides);
      System.out.println("ready " + args[i]);
      if (in.readLine() == null) throw new IllegalStateException("standard input closed too early");
      draw(generator, seconds, limit, Path.of(args[4], "Java." + args[i] + ".ids"));
      generator.close();
      if (first == null) first = generator; // decoding works on a closed generator
    }
    for (String line; (line = in.readLine()) != null; ) {
      var parts = first.decode(Long.parseLong(line));
      System.out.println("decoded " + parts.unixMs() + " " + parts.worker() + " " + parts.sequence());
    }
  }

  // One call for each id, straight into the mapped file.
  static void draw(Generator generator, double seconds, int limit, Path path) throws Exception {
    try (var file = FileChannel.open(
        path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      LongBuffer ids = file.map(MapMode.READ_WRITE, 0, limit * 8L).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
      long begin = System.nanoTime();
      long now = begin;
      long report = begin;
      int count = 0;
      while (count < limit && now - begin < seconds * 1e9) {
        int end = Math.min(limit, count + 4096);
        count = fill(generator, ids, count, end);
        now = System.nanoTime();
        if (now >= report) {
          System.out.println("count " + count);
          report = now + 100_000_000;
        }
      }
      file.truncate(count * 8L);
      System.out.println("done " + count + " " + (now - begin));
    }
  }

  // A separate method, so that it is compiled as a whole after a few thousand ids.
  static int fill(Generator generator, LongBuffer ids, int from, int to) {
    for (int i = from; i < to; i++) ids.put(i, generator.next());
    return to;
  }
}
