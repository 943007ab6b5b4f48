package dev.evenkeel.cli;

import dev.evenkeel.protocol.Names;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel certs}. */
@Command(
    name = "certs",
    description = "Makes certificates for development.",
    footer = "  evenkeel certs dev certs --nodes n1,n2,n3")
final class CertsCommand extends CommandGroup {
  CertsCommand() {
    super("dev");
  }

  @Command(
      name = "dev",
      mixinStandardHelpOptions = true,
      description = {
        "Makes an authority for nodes and one for applications, and signs certificates with them."
            + " Writes DIR/nodes/NODE for --peer-tls of each node, and DIR/clients for --tls of all"
            + " nodes, each with tls.crt, tls.key and ca.crt. Applications need"
            + " DIR/clients/ca.crt.",
        "The keys of the authorities are thrown away: to add a node, make all certificates again."
      },
      footer = {
        "  evenkeel certs dev certs --nodes n1",
        "  evenkeel certs dev certs --nodes n1@10.0.0.1,n2@10.0.0.2,n3@10.0.0.3",
      })
  int dev(
      @Parameters(
              paramLabel = "DIR",
              description = "Where the files go. It overwrites former ones.")
          Path directory,
      @Option(
              names = "--nodes",
              paramLabel = "NODE[@HOST]",
              split = ",",
              required = true,
              description =
                  "The id of each node, and the host under which others reach it. All certificates"
                      + " are for localhost, too.")
          List<String> nodes) {
    Map<String, String> hosts = hosts(nodes);
    try {
      DevCertificates.write(directory, hosts);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot make the certificates: " + e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println("evenkeel serve --tls " + directory.resolve("clients") + " \\");
    String first = hosts.keySet().iterator().next();
    out.println("  --peer-tls " + directory.resolve("nodes").resolve(first) + " --node " + first);
    out.println("evenkeel produce TOPIC --ca " + directory.resolve("clients").resolve("ca.crt"));
    out.flush();
    return ExitStatus.DONE;
  }

  private static Map<String, String> hosts(List<String> nodes) {
    Map<String, String> hosts = new LinkedHashMap<>();
    for (String text : nodes) {
      int at = text.indexOf('@');
      String node =
          OptionFormats.of(
              "--nodes", () -> Names.check("node", at < 0 ? text : text.substring(0, at)));
      String host = at < 0 ? "localhost" : text.substring(at + 1);
      CommandFailure.refuseIf(host.isEmpty(), "--nodes: '" + text + "': write n1 or n1@10.0.0.1");
      CommandFailure.refuseIf(
          hosts.put(node, host) != null, "--nodes: node '" + node + "' is there twice");
    }
    return hosts;
  }
}
