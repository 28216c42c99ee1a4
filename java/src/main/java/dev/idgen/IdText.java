package dev.idgen;

/**
 * Text forms of an id. All but {@link #DECIMAL} have a fixed width and sort like the ids, read as unsigned. Decimal
 * texts of different lengths do not.
 */
public enum IdText {
  /** Unsigned, without leading zeros. Texts of different lengths do not sort like the ids. */
  DECIMAL,
  /** 16 lower-case digits; parses upper case too. */
  HEX,
  /** 13 characters of Crockford's base 32; parses lower case, and O, I and L too. */
  CROCKFORD,
  /** 11 characters of an alphabet without 0, O, I and l. */
  BASE58,
  /** 11 characters: 0-9, A-Z, a-z. */
  BASE62;

  /**
   * An id as text.
   *
   * @param id any 64 bits
   * @return its text
   */
  public String format(long id) {
    return Text.string(IdgenJNI.format(id, ordinal())); // the order of IDGEN_TEXT_*
  }

  /**
   * The id of a text.
   *
   * @param text a result of {@link #format}, or what this form also parses
   * @return the id
   * @throws ConfigException (status {@link Status#TEXT}) for a foreign digit, an overflow or a wrong length: the
   *     message has the position
   */
  public long parse(String text) {
    var id = new long[1];
    IdgenJNI.idgen_parse(Text.utf8(text), ordinal(), id);
    return id[0];
  }
}
