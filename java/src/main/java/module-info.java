/**
 * Unique, ordered ids made inside the process that needs them. Runs native code: on JDK 24 and later start the JVM with
 * {@code --enable-native-access=dev.idgen}, or {@code =ALL-UNNAMED} when the jar is on the class path.
 */
module dev.idgen {
  // Only for SqlStore and UrlDriver: a program with a DataSource or a driver has java.sql.
  requires static transitive java.sql;

  exports dev.idgen;
  exports dev.idgen.testing;
}
