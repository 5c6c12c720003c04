import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node with k-NN for this machine: {@code LocalNode HOME HTTP_PORT}.
 *
 * <p>Plugins are taken from the class path, which skips the installer's check that a plugin was built for the
 * very same patch release. SIGTERM closes the node in order, so that it starts without recovery.
 */
public final class LocalNode extends Node {

  private static final List<Class<? extends Plugin>> PLUGINS =
      List.of(
          Netty4Plugin.class,
          CommonAnalysisPlugin.class,
          PainlessPlugin.class,
          ReindexPlugin.class,
          KNNPlugin.class);

  private LocalNode(Settings settings) {
    super(
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "engram-local"),
        PLUGINS,
        true);
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      throw new IllegalArgumentException("LocalNode HOME HTTP_PORT");
    }
    Path home = Path.of(arguments[0]);
    Files.createDirectories(home.resolve("config"));
    LocalNode node = new LocalNode(settings(home, arguments[1]));
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node, closed)));
    node.start();
    closed.await();
  }

  private static Settings settings(Path home, String httpPort) {
    return Settings.builder()
        .put("path.home", home.toString())
        .put("cluster.name", "engram-local")
        .put("node.name", "engram-local")
        .put("network.host", "127.0.0.1")
        .put("http.port", httpPort)
        .put("transport.port", "0") // nobody joins: any free port will do
        .put("discovery.type", "single-node")
        .put("transport.type", "netty4")
        .put("http.type", "netty4")
        .put("action.auto_create_index", false) // an index without our mapping would be a wrong one
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
  }

  private static void close(Node node, CountDownLatch closed) {
    try {
      node.close();
    } catch (Exception error) {
      System.err.println("the node did not close in order: " + error);
    } finally {
      closed.countDown();
    }
  }
}
