package dev.evenkeel.client.internal.session;

import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.NodeSettings;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;

/** A node, in a process of its own, that only echoes: to be killed. */
public final class EchoNode {
  private EchoNode() {}

  /** Starts a process and returns when it says that it is ready. */
  static Process start(int port) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
    // It runs for moments only.
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(EchoNode.class.getName());
    command.add(String.valueOf(port));
    Process process = new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
    String line = process.inputReader().readLine();
    if (!"ready".equals(line)) {
      process.destroyForcibly();
      throw new IOException("the node did not start: " + line);
    }
    return process;
  }

  public static void main(String[] args) {
    ClusterMembers.node(NodeSettings.lone(Integer.parseInt(args[0])))
        .compose(
            node ->
                node.vertx()
                    .eventBus()
                    .consumer("echo", message -> message.reply(message.body()))
                    .completion())
        .onSuccess(none -> System.out.println("ready"))
        .onFailure(
            failure -> {
              System.out.println(failure);
              System.exit(1);
            });
  }
}
