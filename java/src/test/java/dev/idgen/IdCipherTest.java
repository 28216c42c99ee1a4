package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.crypto.fpe.FPEFF1Engine;
import org.bouncycastle.crypto.params.FPEParameters;
import org.bouncycastle.crypto.params.KeyParameter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hidden ids: those of the golden vectors, tests/vectors/hidden.tsv, and of another library's FF1. */
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

  /** Key, tweak and permutation, all made another way. */
  @Test
  void areThoseOfBouncyCastle() throws Exception {
    var cipher = hiding("bouncy").buildCipher();
    byte[] key = derived("bouncy", "libidgen/ff1/v1|42|1");
    var random = new Random(42);
    for (int i = 0; i < 500; i++) {
      long gene = random.nextInt(1 << 16);
      long segment = random.nextLong() >>> 22;
      byte[] tweak = tweak("bouncy", 1, gene, 1);
      long expected = gene << 47 | 1L << 42 | bouncyCastle(key, tweak, segment, 42);
      assertEquals(expected, cipher.hide(gene << 47 | segment));
    }
  }

  @Test
  void ofWholeIdsAreThoseOfBouncyCastleToo() throws Exception {
    for (int bits : new int[] {20, 48, 53, 63}) {
      String namespace = "bouncy " + bits;
      var cipher = hiding(namespace).layout("segment:" + bits).buildCipher();
      byte[] key = derived(namespace, "libidgen/ff1/v1|" + bits + "|1");
      byte[] tweak = tweak(namespace, 3, 0, 1);
      var random = new Random(bits);
      for (int i = 0; i < 200; i++) {
        long id = random.nextLong() >>> (64 - bits);
        assertEquals(bouncyCastle(key, tweak, id, bits), cipher.hide(id), bits + " bits");
      }
    }
  }

  private static long bouncyCastle(byte[] key, byte[] tweak, long number, int bits) {
    var engine = new FPEFF1Engine();
    engine.init(true, new FPEParameters(new KeyParameter(key), 2, tweak));
    var digits = new byte[bits];
    for (int i = 0; i < bits; i++) digits[i] = (byte) (number >>> (bits - 1 - i) & 1);
    var out = new byte[bits];
    engine.processBlock(digits, 0, bits, out, 0);
    long result = 0;
    for (byte digit : out) result = result << 1 | digit;
    return result;
  }

  private static byte[] derived(String namespace, String info) throws GeneralSecurityException {
    byte[] extracted = hmac(namespace.getBytes(StandardCharsets.UTF_8), HexFormat.of().parseHex(FIRST));
    return Arrays.copyOf(hmac(extracted, (info + "\1").getBytes(StandardCharsets.UTF_8)), 16);
  }

  private static byte[] hmac(byte[] key, byte[] text) throws GeneralSecurityException {
    var mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text);
  }

  private static byte[] tweak(String namespace, int format, long gene, int version) throws GeneralSecurityException {
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(namespace.getBytes(StandardCharsets.UTF_8));
    byte[] tweak = Arrays.copyOf(hash, 11);
    tweak[4] = (byte) format;
    for (int i = 0; i < 3; i++) {
      tweak[5 + i] = (byte) (gene >>> (16 - 8 * i));
      tweak[8 + i] = (byte) (version >>> (16 - 8 * i));
    }
    return tweak;
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
