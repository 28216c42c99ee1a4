package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.time.Instant;

/** Converts values to and from the text that the library takes and gives: UTF-8 without a NUL. */
final class Text {
  private Text() {}

  /**
   * The bytes of a text.
   *
   * @throws IllegalArgumentException for a NUL, where the library would see the end of the text, and for half a
   *     surrogate pair
   */
  static byte[] utf8(String text) {
    int nul = text.indexOf('\0');
    if (nul >= 0) {
      throw new IllegalArgumentException(
          "text has a NUL character at position " + nul + ": \"" + text.replace("\0", "\\0") + '"');
    }
    return strictUtf8(text);
  }

  /**
   * The bytes of an owner, which may have a NUL.
   *
   * @throws IllegalArgumentException for half a surrogate pair: different owners would become one
   */
  static byte[] owner(String owner) {
    byte[] bytes = owner.getBytes(UTF_8); // much faster than an encoder, but writes '?' for half a pair
    for (byte each : bytes) {
      if (each == '?') return strictUtf8(owner);
    }
    return bytes;
  }

  private static byte[] strictUtf8(String text) {
    try {
      var encoded = UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      var bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("text has half a surrogate pair: \"" + text + '"', e);
    }
  }

  /** The bytes of a text, or null for null. */
  static byte[] utf8OrNull(String text) {
    return text == null ? null : utf8(text);
  }

  /**
   * An instant in the form that the library takes: Unix ms.
   *
   * @throws IllegalArgumentException if it is finer: silent rounding would change an epoch
   */
  static String unixMs(Instant instant) {
    long milliseconds = instant.toEpochMilli();
    if (!Instant.ofEpochMilli(milliseconds).equals(instant)) {
      throw new IllegalArgumentException(instant + " is not a whole number of milliseconds");
    }
    return String.valueOf(milliseconds);
  }

  /**
   * A duration in the form that the library takes.
   *
   * @throws IllegalArgumentException if it is finer than a ms: silent rounding would change it
   */
  static String milliseconds(Duration duration) {
    long milliseconds = duration.toMillis();
    if (!Duration.ofMillis(milliseconds).equals(duration)) {
      throw new IllegalArgumentException(duration + " is not a whole number of milliseconds");
    }
    return milliseconds + "ms";
  }

  static String string(byte[] utf8) {
    return utf8 == null ? "" : new String(utf8, UTF_8);
  }
}
