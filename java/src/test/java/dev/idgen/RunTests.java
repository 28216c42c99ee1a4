package dev.idgen;

import java.util.Arrays;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Classes of tests as JUnit runs them, in this JVM or, by their names, in one of their own. */
final class RunTests {
  private RunTests() {}

  static TestExecutionSummary run(Class<?>... classes) {
    var listener = new SummaryGeneratingListener();
    var selectors = Arrays.stream(classes).map(DiscoverySelectors::selectClass).toArray(ClassSelector[]::new);
    var request = LauncherDiscoveryRequestBuilder.request().selectors(selectors).build();
    LauncherFactory.create().execute(request, listener);
    return listener.getSummary();
  }

  /** Prints what failed, and how many tests ran. */
  public static void main(String[] names) throws ClassNotFoundException {
    var classes = new Class<?>[names.length];
    for (int i = 0; i < names.length; i++) classes[i] = Class.forName(names[i]);
    var summary = run(classes);
    summary.getFailures().forEach(failure -> failure.getException().printStackTrace());
    System.out.println(summary.getTestsSucceededCount() + " tests");
  }
}
