import dev.idgen.Generator;
import dev.idgen.SqlStore;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.Properties;
import javax.sql.DataSource;
import liquibase.Contexts;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.resource.ClassLoaderResourceAccessor;
import liquibase.resource.CompositeResourceAccessor;
import liquibase.resource.DirectoryResourceAccessor;
import org.flywaydb.core.Flyway;

/** Migrates a database twice, then draws from it: Migrate flyway|liquibase URL FOLDER. See ../test_migrations.py. */
public class Migrate {
  private static final String USER = System.getenv("USER_OF_IDS");
  private static final String PASSWORD = System.getenv("PASSWORD_OF_IDS");

  public static void main(String[] arguments) throws Exception {
    String url = arguments[1];
    var folder = Path.of(arguments[2]);
    for (int time = 0; time < 2; time++) {
      if (arguments[0].equals("flyway")) {
        flyway(url, folder);
      } else {
        liquibase(url, folder);
      }
    }
    DataSource pool = dataSource(url);
    try (var orders = Generator.builder().kind("segment").tag("orders").store(new SqlStore(pool)).build();
        var events = Generator.builder().set("worker", "auto").store(new SqlStore(pool)).build()) {
      System.out.println(orders.next() + " " + (events.next() > 0));
    }
  }

  /** What the page says of idgen's tables first, then the program's own migrations. */
  private static void flyway(String url, Path folder) throws Exception {
    var settings = new Properties();
    settings.load(new StringReader(Files.readString(folder.resolve("flyway.properties"))));
    Flyway.configure().configuration(settings).dataSource(url, USER, PASSWORD).load().migrate();
    Flyway.configure().locations("filesystem:" + folder).dataSource(url, USER, PASSWORD).baselineOnMigrate(true)
        .baselineVersion("1").load().migrate();
  }

  private static void liquibase(String url, Path folder) throws Exception {
    try (var connection = DriverManager.getConnection(url, USER, PASSWORD);
        var files = new DirectoryResourceAccessor(folder);
        var jars = new ClassLoaderResourceAccessor()) {
      var database = DatabaseFactory.getInstance().findCorrectDatabaseImplementation(new JdbcConnection(connection));
      new Liquibase("changelog.xml", new CompositeResourceAccessor(files, jars), database).update(new Contexts());
    }
  }

  private static DataSource dataSource(String url) throws Exception {
    if (url.startsWith("jdbc:mariadb")) {
      var source = new org.mariadb.jdbc.MariaDbDataSource(url);
      source.setUser(USER);
      source.setPassword(PASSWORD);
      return source;
    }
    var source = new org.postgresql.ds.PGSimpleDataSource();
    source.setUrl(url);
    source.setUser(USER);
    source.setPassword(PASSWORD);
    return source;
  }
}
