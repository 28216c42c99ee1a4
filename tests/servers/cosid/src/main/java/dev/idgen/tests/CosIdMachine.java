package dev.idgen.tests;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Executors;
import me.ahoo.cosid.machine.DefaultClockBackwardsSynchronizer;
import me.ahoo.cosid.machine.DefaultMachineIdGuarder;
import me.ahoo.cosid.machine.InMemoryMachineStateStorage;
import me.ahoo.cosid.machine.InstanceId;
import me.ahoo.cosid.machine.MachineIdDistributor;
import me.ahoo.cosid.machine.MachineState;
import me.ahoo.cosid.machine.MachineStateStorage;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import me.ahoo.cosid.spring.redis.SpringRedisMachineIdDistributor;

/**
 * Issues snowflake ids like an application with CosId, whose machine id is distributed: with CosId's own classes,
 * except {@link TableMachines}.
 *
 * <pre>CosIdMachine URL NAMESPACE INSTANCE BITS GUARD_MS EPOCH_MS</pre>
 *
 * Ids have 41 bits of milliseconds, BITS of the machine and 2 of the sequence. It reports five times in each guard. For
 * each number N on standard input it issues N ids and then prints them, one per line; after the last number it gives
 * the machine id back and ends.
 */
public final class CosIdMachine {
  public static void main(String[] args) throws Exception {
    String namespace = args[1];
    InstanceId instance = InstanceId.of(args[2], false);
    int bits = Integer.parseInt(args[3]);
    Duration guard = Duration.ofMillis(Long.parseLong(args[4]));
    MachineIdDistributor machines = distributor(args[0]);
    MachineState state = machines.distribute(namespace, bits, instance, guard);
    DefaultMachineIdGuarder guarder =
        new DefaultMachineIdGuarder(
            machines, Executors.newScheduledThreadPool(1), guard.dividedBy(5), guard.dividedBy(5), guard);
    guarder.register(namespace, instance);
    guarder.start();
    MillisecondSnowflakeId id =
        new MillisecondSnowflakeId(Long.parseLong(args[5]), 41, bits, 2, state.getMachineId(), 0);
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
    for (String line = asked.readLine(); line != null; line = asked.readLine()) {
      int count = Integer.parseInt(line);
      StringBuilder issued = new StringBuilder();
      for (int i = 0; i < count; i++) issued.append(id.generate()).append('\n');
      System.out.print(issued);
      System.out.flush();
    }
    guarder.stop();
    machines.revert(namespace, instance);
    System.exit(0); // CosId, its driver and its client have threads of their own
  }

  private static MachineIdDistributor distributor(String url) throws Exception {
    MachineStateStorage storage = new InMemoryMachineStateStorage();
    DefaultClockBackwardsSynchronizer clock = new DefaultClockBackwardsSynchronizer();
    return url.startsWith("jdbc:")
        ? new TableMachines(CosIdIssue.database(url), storage, clock)
        : new SpringRedisMachineIdDistributor(CosIdIssue.redisAt(URI.create(url)), storage, clock);
  }
}
