package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hidden ids. Which ones they are is in the golden vectors, tests/vectors/hidden.tsv. */
class IdCipherTest {
  private static final String FIRST = "2B7E151628AED2A6ABF7158809CF4F3C";
  private static final String SECOND = "000102030405060708090a0b0c0d0e0f";

  @TempDir Path folder;

  private Path keyFile(String lines) throws IOException {
    Path file = folder.resolve("keys");
    Files.writeString(file, lines);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  private Generator.Builder hiding(String namespace) throws IOException {
    if (!Files.exists(folder.resolve("keys"))) keyFile("1 " + FIRST + "\n");
    return Generator.builder()
        .layout("business64")
        .namespace(namespace)
        .store("memory:IdCipherTest")
        .modulePath(Vectors.REPOSITORY.resolve("build/lib/idgen/modules"))
        .cipherKey("file:" + folder.resolve("keys"));
  }

  private static WideId id(String layout, String number) {
    if (!layout.equals("business128")) return WideId.of(Long.parseUnsignedLong(number));
    var value = new BigInteger(number);
    return WideId.of(new UUID(value.shiftRight(64).longValue(), value.longValue()));
  }

  @Test
  void areThoseOfTheVectorsInEveryModeAndLayout() throws IOException {
    keyFile(Files.readString(Vectors.REPOSITORY.resolve("tests/vectors/hidden.keys")));
    for (String[] row : Vectors.rows("hidden.tsv")) {
      var cipher =
          hiding(row[1])
              .store("memory:vectors")
              .cipherMode(row[0])
              .layout(row[2])
              .cipherVersion(Long.parseLong(row[3]))
              .buildCipher();
      String what = String.join(" ", row);
      assertEquals(id(row[2], row[5]), cipher.hide(id(row[2], row[4])), what);
      assertEquals(id(row[2], row[4]), cipher.reveal(id(row[2], row[5])), what);
      if (row[2].equals("business128")) {
        assertEquals(Status.UNSUPPORTED, assertThrows(ConfigException.class, () -> cipher.hide(1)).status());
        continue;
      }
      assertEquals(Long.parseUnsignedLong(row[5]), cipher.hide(Long.parseUnsignedLong(row[4])), what);
      assertEquals(Long.parseUnsignedLong(row[4]), cipher.reveal(Long.parseUnsignedLong(row[5])), what);
    }
  }

  @Test
  void manyAtOnceAreWhatOneByOneGivesAndABadOneChangesNothing() throws IOException {
    var cipher = hiding("many").buildCipher();
    long[] ids = LongStream.range(0, 1000).toArray();
    long[] hidden = ids.clone();
    cipher.hideAll(hidden);
    assertArrayEquals(LongStream.of(ids).map(cipher::hide).toArray(), hidden);
    long[] before = hidden.clone();
    hidden[700] = before[700] = 1; // has no version of a key
    var refusal = assertThrows(ConfigException.class, () -> cipher.revealAll(hidden));
    assertTrue(refusal.getMessage().contains("number 701 of 1000"), refusal.getMessage());
    assertArrayEquals(before, hidden);
    hidden[700] = cipher.hide(700);
    cipher.revealAll(hidden);
    assertArrayEquals(ids, hidden);
    cipher.hideAll(new long[0]);
  }

  @Test
  void ofEitherLengthAreHiddenByTheirLength() throws IOException {
    var cipher = hiding("widened").set("on_full", "widen").buildCipher();
    WideId[] plain = {WideId.of(5), WideId.of(new UUID(0, 5)), WideId.of(6)};
    WideId[] ids = plain.clone();
    cipher.hideAll(ids);
    assertEquals(WideId.of(cipher.hide(5)), ids[0]);
    assertEquals(cipher.hide(plain[1]), ids[1]);
    assertEquals(16, ids[1].size());
    cipher.revealAll(ids);
    assertArrayEquals(plain, ids);
    cipher.hideAll(new WideId[0]);
    WideId[] wrong = {plain[0], cipher.hide(plain[0])};
    assertThrows(ConfigException.class, () -> cipher.hideAll(wrong));
    assertEquals(plain[0], wrong[0]);
    assertThrows(NullPointerException.class, () -> cipher.hide((WideId) null));
  }

  @Test
  void keysOfTheProgramAreReadAgainWhenItSaysSo() throws Exception {
    var keys = new ArrayList<>(List.of(new IdKey(1, new byte[32]), new IdKey(11, new byte[16], true)));
    var sealed = new IllegalStateException("the vault is sealed");
    var fails = new AtomicBoolean();
    var cipher = hiding("vault").keys(() -> {
      if (fails.get()) throw sealed;
      return List.copyOf(keys);
    }).buildCipher();
    assertEquals(1, cipher.hide(5) >>> 42, "the other one is retired");
    keys.add(new IdKey(12, new byte[17]));
    cipher.reload();
    assertEquals(12, cipher.hide(5) >>> 42);
    fails.set(true);
    assertSame(sealed, assertThrows(IllegalStateException.class, cipher::reload));
    fails.set(false);
    keys.add(new IdKey(20, new byte[15]));
    assertEquals(Status.CONFIG_FILE, assertThrows(ConfigException.class, cipher::reload).status());
    assertEquals(12, cipher.hide(5) >>> 42);
    assertEquals("IdKey[version=1]", keys.get(0).toString());
  }

  @Test
  void aCipherOfAFilesTableSaysWhatItsKeysDoWithoutShowingThem() throws IOException {
    keyFile("1 " + FIRST + "\n2 " + SECOND + "\n");
    Path toml = folder.resolve("idgen.toml");
    Files.writeString(
        toml,
        """
        [orders]
        layout = "business64"
        store = "memory:toml"
        cipher.key = "file:keys"
        module.path = "%s"
        """
            .formatted(Vectors.REPOSITORY.resolve("build/lib/idgen/modules")));
    for (String text : List.of(
             IdCipher.open(toml, "orders").describe(), Generator.builder().load(toml, "orders").checkKeys())) {
      assertTrue(text.contains("key version 2: hides and reveals"), text);
      assertFalse(text.contains(FIRST.substring(0, 8)), text);
    }
  }
}
