package dev.idgen;

/**
 * Text forms of an id. All but decimal have a fixed width, so that the order of the texts is the order of the ids (as
 * unsigned numbers).
 */
public enum IdText {
  /** As few digits as it takes, unsigned. */
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
   * The id that a text stands for.
   *
   * @param text what {@link #format} gave, or what is said at the form
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
