package dev.idgen.tests;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import javax.sql.DataSource;
import me.ahoo.cosid.machine.AbstractMachineIdDistributor;
import me.ahoo.cosid.machine.ClockBackwardsSynchronizer;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.machine.MachineIdLostException;
import me.ahoo.cosid.machine.MachineIdOverflowException;
import me.ahoo.cosid.machine.MachineState;
import me.ahoo.cosid.machine.MachineStateStorage;

/**
 * Rows of the table cosid_machine, by the statements of cosid-jdbc (JdbcMachineIdDistributor) in their order, rewritten
 * because that artifact was not available. Everything else is CosId's.
 */
final class TableMachines extends AbstractMachineIdDistributor {
  private static final String GUARD =
      "update cosid_machine set last_timestamp=? where namespace=? and instance_id=? and machine_id=?";

  private final DataSource database;

  TableMachines(DataSource database, MachineStateStorage storage, ClockBackwardsSynchronizer clock) {
    super(storage, clock);
    this.database = database;
  }

  @Override
  protected MachineState distributeRemote(String namespace, int bits, InstanceId instance, Duration guard) {
    try (Connection connection = database.getConnection()) {
      MachineState found = own(connection, namespace, instance, guard);
      if (found == null) found = reverted(connection, namespace, instance, guard);
      return found != null ? found : fresh(connection, namespace, bits, instance);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private MachineState own(Connection connection, String namespace, InstanceId instance, Duration guard)
      throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "select machine_id, last_timestamp from cosid_machine"
                + " where namespace=? and instance_id=? and last_timestamp>?")) {
      select.setString(1, namespace);
      select.setString(2, instance.getInstanceId());
      select.setLong(3, MachineIdDistributor.getSafeGuardAt(guard, instance.isStable()));
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) return null;
        MachineState state =
            MachineState.of(row.getInt(1), Math.max(row.getLong(2), System.currentTimeMillis()));
        guardRemote(namespace, instance, state, guard);
        return state;
      }
    }
  }

  private MachineState reverted(Connection connection, String namespace, InstanceId instance, Duration guard)
      throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "select machine_id, last_timestamp from cosid_machine"
                + " where namespace=? and (instance_id='' or last_timestamp<=?)")) {
      select.setString(1, namespace);
      select.setLong(2, MachineIdDistributor.getSafeGuardAt(guard, instance.isStable()));
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          if (take(connection, namespace, row.getInt(1), instance, guard)) {
            return MachineState.of(row.getInt(1), row.getLong(2));
          }
        }
      }
    }
    return null;
  }

  private boolean take(Connection connection, String namespace, int id, InstanceId instance, Duration guard)
      throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "update cosid_machine set instance_id=?,last_timestamp=?,distribute_time=?"
                + " where name=? and (instance_id='' or last_timestamp<=?)")) {
      update.setString(1, instance.getInstanceId());
      update.setLong(2, System.currentTimeMillis());
      update.setLong(3, System.currentTimeMillis());
      update.setString(4, MachineIdDistributor.namespacedMachineId(namespace, id));
      update.setLong(5, MachineIdDistributor.getSafeGuardAt(guard, instance.isStable()));
      return update.executeUpdate() > 0;
    }
  }

  private MachineState fresh(Connection connection, String namespace, int bits, InstanceId instance)
      throws SQLException {
    int next = 0;
    try (PreparedStatement select =
        connection.prepareStatement(
            "select max(machine_id)+1 as next_machine_id from cosid_machine where namespace=?")) {
      select.setString(1, namespace);
      try (ResultSet row = select.executeQuery()) {
        if (row.next()) next = row.getInt(1);
      }
    }
    if (next > MachineIdDistributor.maxMachineId(bits)) {
      throw new MachineIdOverflowException(MachineIdDistributor.totalMachineIds(bits), instance);
    }
    MachineState state = MachineState.of(next, System.currentTimeMillis());
    try (PreparedStatement insert =
        connection.prepareStatement(
            "insert into cosid_machine"
                + " (name, namespace, machine_id, last_timestamp, instance_id, distribute_time, revert_time)"
                + " values (?,?,?,?,?,?,0)")) {
      insert.setString(1, MachineIdDistributor.namespacedMachineId(namespace, next));
      insert.setString(2, namespace);
      insert.setInt(3, next);
      insert.setLong(4, state.getLastTimeStamp());
      insert.setString(5, instance.getInstanceId());
      insert.setLong(6, System.currentTimeMillis());
      insert.executeUpdate();
      return state;
    } catch (SQLIntegrityConstraintViolationException outrun) {
      return fresh(connection, namespace, bits, instance);
    }
  }

  @Override
  protected void revertRemote(String namespace, InstanceId instance, MachineState state) {
    try (Connection connection = database.getConnection();
        PreparedStatement update =
            connection.prepareStatement(
                "update cosid_machine set instance_id=?,last_timestamp=?,revert_time=?"
                    + " where namespace=? and instance_id=?")) {
      update.setString(1, instance.isStable() ? instance.getInstanceId() : "");
      update.setLong(2, state.getLastTimeStamp());
      update.setLong(3, System.currentTimeMillis());
      update.setString(4, namespace);
      update.setString(5, instance.getInstanceId());
      update.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected void guardRemote(String namespace, InstanceId instance, MachineState state, Duration guard) {
    try (Connection connection = database.getConnection();
        PreparedStatement update = connection.prepareStatement(GUARD)) {
      update.setLong(1, state.getLastTimeStamp());
      update.setString(2, namespace);
      update.setString(3, instance.getInstanceId());
      update.setInt(4, state.getMachineId());
      if (update.executeUpdate() == 0) throw new MachineIdLostException(namespace, instance, state);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
