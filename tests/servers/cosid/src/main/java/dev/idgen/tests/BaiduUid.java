package dev.idgen.tests;

import com.xfvape.uid.impl.DefaultUidGenerator;
import com.xfvape.uid.worker.DisposableWorkerIdAssigner;
import com.xfvape.uid.worker.dao.WorkerNodeDAO;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import org.apache.ibatis.builder.xml.XMLMapperBuilder;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;

/**
 * Issues ids like an application with Baidu's uid-generator: with its own classes and its own statement, which MyBatis
 * runs. Spring, which would put them together, is left out.
 *
 * <pre>BaiduUid URL TIME_BITS WORKER_BITS SEQUENCE_BITS EPOCH_DAY</pre>
 *
 * For each number N on standard input it issues N ids and then prints them, one per line.
 */
public final class BaiduUid {
  public static void main(String[] args) throws Exception {
    Configuration configuration =
        new Configuration(new Environment("test", new JdbcTransactionFactory(), CosIdIssue.database(args[0])));
    String mapper = "META-INF/mybatis/mapper/WORKER_NODE.xml";
    try (InputStream xml = DefaultUidGenerator.class.getClassLoader().getResourceAsStream(mapper)) {
      new XMLMapperBuilder(xml, configuration, mapper, configuration.getSqlFragments()).parse();
    }
    DefaultUidGenerator id = new DefaultUidGenerator();
    id.setTimeBits(Integer.parseInt(args[1]));
    id.setWorkerBits(Integer.parseInt(args[2]));
    id.setSeqBits(Integer.parseInt(args[3]));
    id.setEpochStr(args[4]);
    try (SqlSession session = new SqlSessionFactoryBuilder().build(configuration).openSession(true)) {
      DisposableWorkerIdAssigner assigner = new DisposableWorkerIdAssigner();
      Field rows = DisposableWorkerIdAssigner.class.getDeclaredField("workerNodeDAO");
      rows.setAccessible(true);
      rows.set(assigner, session.getMapper(WorkerNodeDAO.class));
      id.setWorkerIdAssigner(assigner);
      id.afterPropertiesSet();
    }
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in));
    for (String line = asked.readLine(); line != null; line = asked.readLine()) {
      int count = Integer.parseInt(line);
      StringBuilder issued = new StringBuilder();
      for (int i = 0; i < count; i++) issued.append(id.getUID()).append('\n');
      System.out.print(issued);
      System.out.flush();
    }
    System.exit(0); // the driver has threads of its own
  }
}
