package dev.idgen;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /** What createTables() sends to a database. */
  private static List<String> tables(boolean isPostgres) {
    var sent = new ArrayList<String>();
    String name = isPostgres ? "PostgreSQL" : "MySQL";
    var product = Proxies.of(DatabaseMetaData.class, (self, method, arguments) -> name);
    var statement = Proxies.of(Statement.class, (self, method, arguments) -> {
      if (!method.getName().equals("execute")) return method.getReturnType() == int.class ? 0 : null;
      return sent.add((String) arguments[0]);
    });
    var connection = Proxies.of(Connection.class, (self, method, arguments) -> switch (method.getName()) {
      case "getMetaData" -> product;
      case "createStatement" -> statement;
      case "getAutoCommit" -> true;
      default -> method.getReturnType() == boolean.class ? false : null;
    });
    new SqlStore(Proxies.pool(() -> connection)).createTables();
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
