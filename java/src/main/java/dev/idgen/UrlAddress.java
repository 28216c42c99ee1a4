package dev.idgen;

/** An idgen_sql_address_t: where the URL of a store leads. A text that is not given is empty. */
record UrlAddress(
    boolean isPostgres,
    String host,
    String socket,
    int port,
    String user,
    String password,
    String database,
    String tls,
    String tlsCa,
    long timeoutMs) {
  private static final int POSTGRES = 2; // IDGEN_SQL_POSTGRES

  static UrlAddress of(int dialect, byte[][] texts, int port, long timeoutMs) {
    var text = new String[texts.length];
    for (int i = 0; i < text.length; i++) text[i] = Text.string(texts[i]);
    return new UrlAddress(
        dialect == POSTGRES, text[0], text[1], port, text[2], text[3], text[4], text[5], text[6], timeoutMs);
  }

  /** With the brackets that an IPv6 address has in a URL. */
  String hostAndPort() {
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
  }

  boolean isVerified() {
    return tls.startsWith("verify");
  }

  /** A record would show the password. */
  @Override
  public String toString() {
    return socket.isEmpty() ? hostAndPort() : socket;
  }
}
