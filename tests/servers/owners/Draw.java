// Draws ids that have an owner: draw.py says how.
import dev.idgen.Generator;
import java.io.BufferedOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

class Draw {
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[2]);
    int seed = Integer.parseInt(args[3]);
    long[] owners = new long[4096];
    long[] ids = new long[owners.length];
    var bytes = ByteBuffer.allocate(8 * owners.length).order(ByteOrder.LITTLE_ENDIAN);
    try (var generator = Generator.open(Path.of(args[0]), args[1]);
        var out = new BufferedOutputStream(Files.newOutputStream(Path.of(args[4])))) {
      for (int done = 0; done < count; done += owners.length) {
        for (int i = 0; i < owners.length; i++) owners[i] = (long) (seed + done + i) % 1_000_003;
        generator.fillForEach(owners, ids);
        bytes.clear().asLongBuffer().put(ids);
        out.write(bytes.array());
      }
    }
  }
}
