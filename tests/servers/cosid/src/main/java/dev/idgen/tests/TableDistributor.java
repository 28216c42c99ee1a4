package dev.idgen.tests;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.Statement;
import javax.sql.DataSource;
import me.ahoo.cosid.segment.IdSegmentDistributor;
import me.ahoo.cosid.segment.IdSegmentDistributorDefinition;

/**
 * Rows of the table cosid, by the statements and in the transaction of cosid-jdbc 2.13 and 3.2
 * (JdbcIdSegmentDistributor, JdbcIdSegmentInitializer), rewritten because that artifact was not available. Everything
 * else is CosId's.
 */
final class TableDistributor implements IdSegmentDistributor {
  private static final String CREATE =
      "create table if not exists cosid (name varchar(100) not null comment '{namespace}.{name}',"
          + " last_max_id bigint unsigned not null default 0, last_fetch_time bigint unsigned not null default 0,"
          + " constraint cosid_pk primary key (name)) engine = InnoDB;";
  private static final String INSERT =
      "insert into cosid (name, last_max_id,last_fetch_time) value (?, ?,unix_timestamp());";
  private static final String INCREMENT =
      "update cosid set last_max_id=(last_max_id + ?),last_fetch_time=unix_timestamp() where name = ?;";
  private static final String FETCH = "select last_max_id from cosid where name = ?;";

  private final IdSegmentDistributorDefinition definition;
  private final DataSource database;

  /** Makes the table and the row if they are missing. */
  TableDistributor(IdSegmentDistributorDefinition definition, DataSource database) {
    this.definition = definition;
    this.database = database;
    try (Connection connection = database.getConnection();
        Statement create = connection.createStatement();
        PreparedStatement insert = connection.prepareStatement(INSERT)) {
      create.executeUpdate(CREATE);
      insert.setString(1, getNamespacedName());
      insert.setLong(2, definition.getOffset());
      insert.executeUpdate();
    } catch (SQLIntegrityConstraintViolationException there) {
      // The row exists: it continues from there.
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public String getNamespace() {
    return definition.getNamespace();
  }

  @Override
  public String getName() {
    return definition.getName();
  }

  @Override
  public long getStep() {
    return definition.getStep();
  }

  @Override
  public long nextMaxId(long step) {
    IdSegmentDistributor.ensureStep(step);
    try (Connection connection = database.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement increment = connection.prepareStatement(INCREMENT);
          PreparedStatement fetch = connection.prepareStatement(FETCH)) {
        increment.setLong(1, step);
        increment.setString(2, getNamespacedName());
        if (increment.executeUpdate() == 0) throw new IllegalStateException("no row " + getNamespacedName());
        fetch.setString(1, getNamespacedName());
        try (ResultSet row = fetch.executeQuery()) {
          row.next();
          long maxId = row.getLong(1);
          connection.commit();
          return maxId;
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
