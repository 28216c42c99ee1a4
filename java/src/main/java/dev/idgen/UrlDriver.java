package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** A JDBC driver, and how it is told what the URL of a store says. None of them is a dependency of ours. */
enum UrlDriver {
  MARIADB("MariaDB Connector/J", "org.mariadb.jdbc.Driver", 3, "org.mariadb.jdbc:mariadb-java-client", false) {
    @Override
    Connection connect(Driver driver, UrlAddress to) throws SQLException {
      if (!to.tls().equals("prefer")) return connect(driver, to, to.tls());
      try {
        return connect(driver, to, "require");
      } catch (SQLException e) {
        // The server said so before it was told anything. The driver has no mode that goes on without.
        if (!String.valueOf(e.getMessage()).contains("ssl not enabled")) throw e;
        return connect(driver, to, "off");
      }
    }

    private Connection connect(Driver driver, UrlAddress to, String tls) throws SQLException {
      var words = credentials(to);
      words.setProperty("connectTimeout", milliseconds(to));
      words.setProperty("socketTimeout", milliseconds(to));
      words.setProperty("allowLocalInfile", "false");
      words.setProperty("sslMode", MARIADB_MODES.get(tls));
      if (to.isVerified()) {
        // Given none, the driver also accepts a certificate that a server has signed itself and vouches for with the
        // user's password.
        words.setProperty("serverSslCert", to.tlsCa().isEmpty() ? authoritiesOfJava() : to.tlsCa());
      } else {
        words.setProperty("restrictedAuth", NO_CLEAR_PASSWORDS);
      }
      if (!to.socket().isEmpty()) {
        if (!has(driver.getClass().getClassLoader(), "com.sun.jna.Native")) {
          throw refused(
              "socket without JNA", "add net.java.dev.jna:jna to the class path, or leave that out");
        }
        words.setProperty("localSocket", to.socket());
      }
      return inDatabase(driver.connect("jdbc:mariadb://" + to.hostAndPort() + "/" + plain(to), words), to);
    }
  },

  MYSQL("MySQL Connector/J", "com.mysql.cj.jdbc.Driver", 8, "com.mysql:mysql-connector-j", false) {
    @Override
    Connection connect(Driver driver, UrlAddress to) throws SQLException {
      if (!to.socket().isEmpty()) {
        throw refused("socket", "leave that out, or add MariaDB Connector/J and JNA to the class path");
      }
      if (!to.isVerified() || to.tlsCa().isEmpty()) return connect(driver, to, null);
      try {
        Path store = trustStoreOf(Path.of(to.tlsCa()));
        try {
          return connect(driver, to, store);
        } finally {
          Files.delete(store);
        }
      } catch (IOException | GeneralSecurityException e) {
        throw new SQLException("tls_ca = " + to.tlsCa() + " cannot be given to " + title, e);
      }
    }

    private Connection connect(Driver driver, UrlAddress to, Path trustStore) throws SQLException {
      var words = credentials(to);
      words.setProperty("connectTimeout", milliseconds(to));
      words.setProperty("socketTimeout", milliseconds(to));
      words.setProperty("allowLoadLocalInfile", "false");
      words.setProperty(
          "sslMode",
          switch (to.tls()) {
            case "off" -> "DISABLED";
            case "prefer" -> "PREFERRED";
            case "require" -> "REQUIRED";
            case "verify-ca" -> "VERIFY_CA";
            default -> "VERIFY_IDENTITY";
          });
      if (trustStore != null) {
        words.setProperty("trustCertificateKeyStoreUrl", trustStore.toUri().toString());
        words.setProperty("trustCertificateKeyStoreType", STORE_TYPE);
        words.setProperty("trustCertificateKeyStorePassword", STORE_PASSWORD);
        words.setProperty("fallbackToSystemTrustStore", "false");
      }
      if (!to.isVerified()) words.setProperty("disabledAuthenticationPlugins", "mysql_clear_password");
      return inDatabase(driver.connect("jdbc:mysql://" + to.hostAndPort() + "/" + plain(to), words), to);
    }
  },

  POSTGRES("PostgreSQL's JDBC driver", "org.postgresql.Driver", 42, "org.postgresql:postgresql", true) {
    private static final int MS = 1000;

    @Override
    Connection connect(Driver driver, UrlAddress to) throws SQLException {
      if (!to.socket().isEmpty()) throw refused("socket", "leave that out");
      var words = credentials(to);
      String seconds = String.valueOf((to.timeoutMs() + MS - 1) / MS);
      words.setProperty("connectTimeout", seconds);
      words.setProperty("socketTimeout", seconds);
      words.setProperty("sslResponseTimeout", milliseconds(to));
      words.setProperty("tcpKeepAlive", "true");
      words.setProperty("ApplicationName", "idgen");
      words.setProperty("prepareThreshold", "0"); // poolers share a server's session between clients
      words.setProperty("sslmode", POSTGRES_MODES.get(to.tls()));
      if (to.isVerified() && !to.tlsCa().isEmpty()) {
        words.setProperty("sslrootcert", to.tlsCa());
      } else if (to.isVerified()) {
        words.setProperty("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
      }
      String database = URLEncoder.encode(to.database(), UTF_8).replace("+", "%20");
      return driver.connect("jdbc:postgresql://" + to.hostAndPort() + "/" + database, words);
    }
  };

  private static final Map<String, String> MARIADB_MODES =
      Map.of("off", "disable", "require", "trust", "verify-ca", "verify-ca", "verify", "verify-full");

  private static final Map<String, String> POSTGRES_MODES =
      Map.of(
          "off", "disable",
          "prefer", "prefer",
          "require", "require",
          "verify-ca", "verify-ca",
          "verify", "verify-full");

  /** Of MariaDB Connector/J: what a server that is not verified may ask for. */
  private static final String NO_CLEAR_PASSWORDS =
      "mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password";

  /** Of a file that has only certificates, which are no secret. */
  private static final String STORE_PASSWORD = "certificates";

  private static final String STORE_TYPE = "JKS";

  /** So that a message of the library has room for it. */
  private static final int LONGEST_REASON = 200;

  private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z0-9_$-]+");

  final String title;
  private final String type;
  private final int oldest;
  private final String artifact;
  private final boolean isPostgres;

  UrlDriver(String title, String type, int oldest, String artifact, boolean isPostgres) {
    this.title = title;
    this.type = type;
    this.oldest = oldest;
    this.artifact = artifact;
    this.isPostgres = isPostgres;
  }

  abstract Connection connect(Driver driver, UrlAddress to) throws SQLException;

  /** A connection by the first of the drivers that the program has. */
  static SqlSession open(UrlAddress to) throws SQLException {
    var known = new ArrayList<String>();
    var tooOld = new StringBuilder();
    for (var kind : values()) {
      if (kind.isPostgres != to.isPostgres()) continue;
      known.add(kind.artifact);
      var driver = kind.ofProgram();
      if (driver == null) continue;
      if (driver.getMajorVersion() >= kind.oldest) return kind.session(driver, to);
      tooOld.append(kind.title).append(' ').append(driver.getMajorVersion()).append(" is too old (from ");
      tooOld.append(kind.oldest).append(" on it can be used); ");
    }
    throw Errors.of(
        Status.UNSUPPORTED,
        tooOld + "there is none: add " + String.join(" or ", known)
            + " to the class path");
  }

  private SqlSession session(Driver driver, UrlAddress to) throws SQLException {
    Connection connection;
    try {
      connection = connect(driver, to);
    } catch (SQLException e) {
      if (isOfCertificate(e)) throw notTrusted(e, to);
      throw e;
    }
    return checked(connection, () -> new SqlSession(connection));
  }

  private interface Step<T> {
    T take() throws SQLException;
  }

  /** What a step makes of a connection, which is closed if it fails. */
  private static <T> T checked(Connection connection, Step<T> step) throws SQLException {
    try {
      return step.take();
    } catch (SQLException | RuntimeException e) {
      try {
        connection.close();
      } catch (SQLException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  /** Null: it is not there. */
  private Driver ofProgram() {
    Set<ClassLoader> loaders = new LinkedHashSet<>();
    loaders.add(Thread.currentThread().getContextClassLoader());
    loaders.add(UrlDriver.class.getClassLoader());
    synchronized (Configuration.CALLERS) {
      loaders.addAll(Configuration.CALLERS);
    }
    for (var loader : loaders) {
      try {
        Class<?> driver = Class.forName(type, false, loader);
        return (Driver) driver.getConstructor().newInstance();
      } catch (ClassNotFoundException e) {
        continue;
      } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
        var failure =
            Errors.of(
                Status.UNSUPPORTED,
                title + " cannot be loaded: " + SqlErrors.words(e));
        failure.initCause(e);
        throw failure;
      }
    }
    return null;
  }

  private static boolean has(ClassLoader loader, String type) {
    try {
      Class.forName(type, false, loader);
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  final IdgenException refused(String what, String remedy) {
    return Errors.of(
        Status.UNSUPPORTED,
        title + " has no parameter " + what + ": " + remedy);
  }

  private IdgenException notTrusted(SQLException e, UrlAddress to) {
    String remedy =
        isOfName(e) && !to.tlsCa().isEmpty()
            ? " If its name is not to be compared, use tls=verify-ca."
            : to.tlsCa().isEmpty() ? " Its authority must be one that Java knows; name others by tls_ca." : "";
    var failure =
        Errors.of(
            Status.STORE_PERMISSION,
            "the certificate of " + to + " is refused (tls=" + to.tls() + ")." + remedy + " " + title + " says: "
                + shortened(SqlErrors.rootWords(e)));
    failure.initCause(e);
    return failure;
  }

  private static String shortened(String text) {
    return text.length() > LONGEST_REASON ? text.substring(0, LONGEST_REASON) + "..." : text;
  }

  private static boolean isOfCertificate(Throwable thrown) {
    for (Throwable e = thrown; e != null; e = e == e.getCause() ? null : e.getCause()) {
      if (e instanceof CertificateException || e instanceof CertPathValidatorException) return true;
    }
    return isOfName(thrown);
  }

  /** The drivers have no class for it; PostgreSQL's translates its messages, but not the name of its class. */
  private static boolean isOfName(Throwable thrown) {
    for (Throwable e = thrown; e != null; e = e == e.getCause() ? null : e.getCause()) {
      String text = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
      for (var words : List.of("hostname verification", "hostnameverifier", "server hostname/ip")) {
        if (text.contains(words)) return true;
      }
    }
    return false;
  }

  private static Properties credentials(UrlAddress to) {
    var words = new Properties();
    if (!to.user().isEmpty()) words.setProperty("user", to.user());
    if (!to.password().isEmpty()) words.setProperty("password", to.password());
    return words;
  }

  private static String milliseconds(UrlAddress to) {
    return String.valueOf(Math.min(to.timeoutMs(), Integer.MAX_VALUE));
  }

  /** Of MySQL: the name of the database if it can stand in a URL, whatever a driver makes of others there. */
  private static String plain(UrlAddress to) {
    return PLAIN_NAME.matcher(to.database()).matches() ? to.database() : "";
  }

  private static Connection inDatabase(Connection connection, UrlAddress to) throws SQLException {
    if (!plain(to).isEmpty()) return connection;
    return checked(
        connection,
        () -> {
          connection.setCatalog(to.database());
          return connection;
        });
  }

  /** The certificates that Java trusts, in PEM format. */
  private static String authoritiesOfJava() throws SQLException {
    var text = new StringBuilder();
    try {
      var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init((KeyStore) null);
      for (var manager : factory.getTrustManagers()) {
        if (!(manager instanceof X509TrustManager trusting)) continue;
        for (var certificate : trusting.getAcceptedIssuers()) {
          text.append("-----BEGIN CERTIFICATE-----\n");
          text.append(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded()));
          text.append("\n-----END CERTIFICATE-----\n");
        }
      }
    } catch (GeneralSecurityException e) {
      throw new SQLException("the certificates that Java trusts cannot be read", e);
    }
    if (text.isEmpty()) throw new SQLException("Java trusts no certificates, so tls=verify needs tls_ca");
    return text.toString();
  }

  /** A file in a format that MySQL Connector/J reads, of one in PEM format. */
  private static Path trustStoreOf(Path authorities) throws IOException, GeneralSecurityException {
    var store = KeyStore.getInstance(STORE_TYPE);
    store.load(null, null);
    try (var in = Files.newInputStream(authorities)) {
      for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("authority-" + store.size(), certificate);
      }
    }
    Path file = Files.createTempFile("idgen-", "." + STORE_TYPE.toLowerCase(Locale.ROOT)); // readable by nobody else
    try (var out = Files.newOutputStream(file)) {
      store.store(out, STORE_PASSWORD.toCharArray());
    } catch (IOException | GeneralSecurityException e) {
      Files.deleteIfExists(file);
      throw e;
    }
    return file;
  }
}
