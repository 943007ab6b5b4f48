package dev.evenkeel.cluster;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.protocol.HostPort;
import io.vertx.core.Future;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/** A part of a cluster in a process of its own, to be lost at once: a node, and some clients. */
public final class LostPart implements AutoCloseable {
  static final String CLUSTER = "lost-part";

  /** Its node listens there, and answers what it gets. */
  static final String ADDRESS = "lost-part";

  private final Process process;

  /** Starts a process with a node and returns when it has joined. */
  LostPart(int port) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(LostPart.class.getName());
    command.add(String.valueOf(port));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    awaitReady();
  }

  /** Clients join by the part's node. They are younger than whoever has joined before. */
  void addClients(int clients) throws IOException {
    process.outputWriter().write(clients + "\n");
    process.outputWriter().flush();
    awaitReady();
  }

  private void awaitReady() throws IOException {
    String line = process.inputReader().readLine();
    if (!"ready".equals(line)) {
      close();
      throw new IOException("the part did not start: " + line);
    }
  }

  /** Its members fall silent; their connections stay, and are taken by the kernel. */
  void stop() throws IOException, InterruptedException {
    signal("-STOP");
  }

  void goOn() throws IOException, InterruptedException {
    signal("-CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    int status =
        new ProcessBuilder("kill", signal, String.valueOf(process.pid()))
            .inheritIO()
            .start()
            .waitFor();
    if (status != 0) {
      throw new IOException("kill " + signal + " ended with " + status);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  static NodeSettings settings(int port, List<HostPort> peers) {
    return new NodeSettings("127.0.0.1", "127.0.0.1", port, peers, CLUSTER);
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    ClusterMember node =
        ClusterMembersTest.result(
            ClusterMembers.node(settings(port, List.of(new HostPort("127.0.0.1", port)))));
    ClusterMembersTest.result(
        node.vertx()
            .eventBus()
            .consumer(ADDRESS, message -> message.reply(message.body()))
            .completion());
    System.out.println("ready");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    int clients = Integer.parseInt(in.readLine());
    List<Future<ClusterMember>> joining = new ArrayList<>();
    times(clients, i -> joining.add(LiteMember.join(port, CLUSTER)));
    ClusterMembersTest.result(Future.all(joining));
    System.out.println("ready");
  }
}
