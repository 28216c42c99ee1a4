package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** The files for Flyway and Liquibase say what the stores do. tests/servers/recipes runs them. */
class MigrationsTest {
  private static String resource(String name) throws Exception {
    try (var in = MigrationsTest.class.getResourceAsStream("/META-INF/idgen/" + name)) {
      return new String(in.readAllBytes(), UTF_8);
    }
  }

  /** Without comments, one element for each statement. */
  private static List<String> statements(String text) {
    String code = String.join("\n", text.lines().filter(line -> !line.startsWith("--")).toList());
    return Arrays.stream(code.split(";")).map(String::strip).filter(statement -> !statement.isEmpty()).toList();
  }

  /** Answers methods by their names, all others with 0, false or null. */
  private static <T> T answering(Class<T> type, Map<String, Function<Object[], Object>> answers) {
    var proxy =
        Proxy.newProxyInstance(
            MigrationsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              var answer = answers.get(method.getName());
              if (answer != null) return answer.apply(arguments);
              if (method.getReturnType() == int.class) return 0;
              return method.getReturnType() == boolean.class ? false : null;
            });
    return type.cast(proxy);
  }

  /** What createTables() sends to a database. */
  private static List<String> tables(boolean isPostgres) {
    var sent = new ArrayList<String>();
    String name = isPostgres ? "PostgreSQL" : "MySQL";
    var product = answering(DatabaseMetaData.class, Map.of("getDatabaseProductName", arguments -> name));
    var statement =
        answering(
            Statement.class,
            Map.of(
                "execute",
                arguments -> {
                  sent.add((String) arguments[0]);
                  return false;
                }));
    var connection =
        answering(
            Connection.class,
            Map.of(
                "getMetaData", arguments -> product,
                "createStatement", arguments -> statement,
                "getAutoCommit", arguments -> true));
    new SqlStore(answering(DataSource.class, Map.of("getConnection", arguments -> connection))).createTables();
    return sent.stream().filter(text -> text.startsWith("CREATE TABLE")).toList();
  }

  @Test
  void theFilesForFlywayHaveTheStatementsOfTheStores() throws Exception {
    assertEquals(tables(false), statements(resource("flyway/mysql/V1__idgen.sql")));
    assertEquals(tables(true), statements(resource("flyway/postgresql/V1__idgen.sql")));
  }

  @Test
  void theChangelogOfLiquibaseHasTheSameOfEachDatabase() throws Exception {
    String[] sets = resource("liquibase/changelog.sql").split("(?m)^--changeset ");
    assertEquals(3, sets.length);
    assertEquals("--liquibase formatted sql", sets[0].strip());
    assertEquals("idgen:tables-mysql dbms:mysql,mariadb", sets[1].lines().findFirst().get());
    assertEquals(tables(false), statements("--" + sets[1]));
    assertEquals("idgen:tables-postgresql dbms:postgresql", sets[2].lines().findFirst().get());
    assertEquals(tables(true), statements("--" + sets[2]));
  }
}
