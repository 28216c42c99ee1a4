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
   * {@return an id as text}
   *
   * @param id any 64 bits
   */
  public String format(long id) {
    NativeLoader.require();
    return Text.string(IdgenJNI.format(id, ordinal())); // the order of IDGEN_TEXT_*
  }

  /**
   * {@return the id of a text}
   *
   * @param text a result of {@link #format}, or what this form also parses
   * @throws ConfigException (status {@link Status#TEXT}) for a foreign digit, an overflow or a wrong length: the
   *     message has the position
   */
  public long parse(String text) {
    var id = new long[1];
    NativeLoader.require();
    IdgenJNI.idgen_parse(Text.utf8(text), ordinal(), id);
    return id[0];
  }

  /**
   * {@return an id of either length as text} One of 8 bytes has the text that {@link #format(long)} gives it. One of 16
   * has 39 digits in decimal, zeros in front, 32 in hex, 26 in Crockford, 22 in base 58 and 62: the length of the text
   * tells them apart too.
   *
   * @param id any id
   */
  public String format(WideId id) {
    NativeLoader.require();
    return Text.string(IdgenJNI.formatWide(id.toBytes(), ordinal()));
  }

  /**
   * {@return the id of a text, of either length}
   *
   * @param text a result of {@link #format(WideId)}, or what this form also parses
   * @throws ConfigException as for {@link #parse}
   */
  public WideId parseWide(String text) {
    var id = new Object[1];
    NativeLoader.require();
    IdgenJNI.idgen_parse_wide(Text.utf8(text), ordinal(), id);
    return WideId.of((byte[]) id[0]);
  }
}
