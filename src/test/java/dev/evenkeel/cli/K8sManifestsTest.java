package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

/** The manifests fit the program, and each other. */
class K8sManifestsTest {
  static final Path K8S = Path.of("k8s");
  static final Path EXAMPLE = Path.of("k8s/example-consumer");
  private static final Path SCALE = Path.of("k8s/scale");
  private static final Path SCALING = Path.of("k8s/example-scaling");

  /** ServeRun's own bound on the end of a node, and the wait for its end. */
  private static final long NODE_END_SECONDS_MAX = 13;

  private static final long CONSUMER_END_SECONDS_MAX = 25;
  static final String NAMESPACE = "evenkeel";

  @TempDir Path directory;

  // ---- the files ----

  @Test
  void aFieldThatIsNotKnownIsAnError() {
    Fails.saying(
        () ->
            Manifests.parse(
                "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: []}\n"),
        "unknown fields: [port]");
  }

  @Test
  void theFilesFit() throws IOException {
    check(Manifests.read(K8S), "evenkeel-conf", "evenkeel");
    checkConsumer(Manifests.read(EXAMPLE), Manifests.read(K8S));
  }

  @Test
  void theKustomizationsNameEveryFile() throws IOException {
    for (Path where : List.of(K8S, EXAMPLE, SCALE, SCALING)) {
      List<String> resources = new ArrayList<>(List.of("statefulset-patch.yaml"));
      for (Object resource : (List<?>) kustomization(where).get("resources")) {
        assertThat(where.resolve((String) resource)).exists();
        resources.add((String) resource);
      }
      try (var files = Files.list(where)) {
        assertThat(
                files
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".yaml") && !name.equals("kustomization.yaml")))
            .isSubsetOf(resources);
      }
    }
    assertThat(kustomization(K8S).get("namespace")).isEqualTo(NAMESPACE);
  }

  /** A tag can be given to another image later. A digest cannot. */
  @Test
  void imagesAreNamedByTheirDigest() throws IOException {
    Map<?, ?> image = image(K8S);
    assertThat(image.get("name")).isEqualTo("evenkeel");
    assertThat((String) image.get("digest")).matches("sha256:[0-9a-f]{64}");
    assertThat(image.containsKey("newTag")).isFalse();
    assertThat(image(EXAMPLE)).isEqualTo(image);
  }

  private static Map<String, Object> kustomization(Path where) throws IOException {
    return new Yaml().load(Files.readString(where.resolve("kustomization.yaml")));
  }

  private static Map<?, ?> image(Path where) throws IOException {
    List<?> images = (List<?>) kustomization(where).get("images");
    assertThat(images).hasSize(1);
    return (Map<?, ?>) images.get(0);
  }

  @Test
  void kustomizeBuildsTheSame() throws Exception {
    assumeKubectl();
    Manifests built = Manifests.parse(kustomize(K8S));
    ConfigMap conf = built.one(ConfigMap.class);
    assertThat(conf.getData())
        .containsEntry("evenkeel.yaml", Files.readString(Path.of("conf/evenkeel.yaml")))
        .containsEntry("logback.xml", Files.readString(Path.of("conf/logback.xml")));
    Map<?, ?> image = image(K8S);
    String name = image.get("newName") + "@" + image.get("digest");
    check(built, conf.getMetadata().getName(), name);
    checkConsumer(Manifests.parse(kustomize(EXAMPLE)), built);
  }

  private void copy(Path... directories) throws IOException {
    for (Path where : directories) {
      Path copy = Files.createDirectory(directory.resolve(where));
      try (var files = Files.list(where)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Files.copy(file, copy.resolve(file.getFileName()));
        }
      }
    }
  }

  @Test
  void theComponentLetsTheNumberOfNodesChange() throws Exception {
    assumeKubectl();
    copy(Path.of("conf"), K8S, SCALE);
    Path base = directory.resolve("k8s/kustomization.yaml");
    Files.writeString(base, Files.readString(base) + "components:\n  - scale\n");
    Manifests built = Manifests.parse(kustomize(directory.resolve("k8s")));
    StatefulSet set = built.one(StatefulSet.class);
    Container container = set.getSpec().getTemplate().getSpec().getContainers().get(0);
    NodeConfig first = config(container, "evenkeel-0");
    assertThat(first.peers()).hasSize(3);
    assertThat(first.join()).isEmpty();
    for (String pod : List.of("evenkeel-3", "evenkeel-4")) {
      NodeConfig joins = config(container, pod);
      assertThat(joins.join()).hasSize(3);
      assertThat(joins.publicHost()).isEqualTo(pod + ".evenkeel-nodes.evenkeel.svc");
      assertThat(joins.peers()).containsExactly(new NodeConfig.Peer(pod, joins.publicHost(), 5701));
    }
    List<String> hook = container.getLifecycle().getPreStop().getExec().getCommand();
    String command = hook.get(2).substring(hook.get(2).indexOf(" cluster "));
    String[] words =
        command
            .replace("$POD_NAMESPACE", NAMESPACE)
            .replace("$POD_NAME", "evenkeel-3")
            .replace("\"", "")
            .strip()
            .split("\\s+");
    CommandLine.ParseResult preStop = Main.commandLine().parseArgs(words).subcommand().subcommand();
    assertThat(preStop.commandSpec().name()).isEqualTo("pre-stop");
    assertThat((String) preStop.matchedOptionValue("--stateful-set", null))
        .isEqualTo(NAMESPACE + "/" + set.getMetadata().getName());
    assertThat(first.httpNames()).contains("evenkeel-http." + NAMESPACE + ".svc");
    checkMemory(container, 512 + 256);
    assertThat(set.getSpec().getPersistentVolumeClaimRetentionPolicy())
        .as("who scales to 0 loses nothing")
        .isNull();
    assertThat(built.certManager("Certificate")).hasSize(8);
    assertThat(built.one(Role.class).getRules())
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly(set.getMetadata().getName());
              assertThat(rule.getVerbs()).containsExactly("get");
            });
  }

  @Test
  void certificatesNameTheNamespaceOfTheNodes() throws Exception {
    assumeKubectl();
    copy(Path.of("conf"), K8S);
    Path file = directory.resolve("k8s/kustomization.yaml");
    String text = Files.readString(file);
    Files.writeString(file, text.replace("namespace: evenkeel", "namespace: queues"));
    String built = kustomize(directory.resolve("k8s"));
    assertThat(Manifests.parse(built).certManager("Certificate")).hasSize(6);
    assertThat(built)
        .contains("evenkeel-2.evenkeel-nodes.queues.svc", "evenkeel-http.queues.svc.cluster.local")
        .doesNotContain("evenkeel-nodes.evenkeel", "evenkeel-http.evenkeel");
  }

  // ---- the image ----

  @Test
  void theImageStartsAsTheFatJarDoes() throws IOException {
    String text = Files.readString(Path.of("pom.xml"));
    Matcher flag = Pattern.compile("<jvmFlag>([^<]+)</jvmFlag>").matcher(text);
    List<String> flags = flag.results().map(match -> match.group(1)).toList();
    String opens = pom("<jvm.opens>([^<]+)</jvm.opens>");
    assertThat(flags).containsExactly(opens.replaceAll("(--\\S+) ", "$1=").split(" "));
    assertThat(pom("<user>([^<]+)</user>"))
        .isEqualTo(
            Manifests.read(K8S)
                    .one(StatefulSet.class)
                    .getSpec()
                    .getTemplate()
                    .getSpec()
                    .getSecurityContext()
                    .getRunAsUser()
                + ":10001");
    assertThat(text).contains("<MALLOC_ARENA_MAX>2</MALLOC_ARENA_MAX>");
  }

  private static String pom(String regex) throws IOException {
    Matcher matcher = Pattern.compile(regex).matcher(Files.readString(Path.of("pom.xml")));
    assertThat(matcher.find()).as(regex).isTrue();
    return matcher.group(1);
  }

  // ---- the nodes ----

  private static void check(Manifests manifests, String confName, String image) throws IOException {
    StatefulSet set = manifests.one(StatefulSet.class);
    PodTemplateSpec template = set.getSpec().getTemplate();
    Map<String, String> labels = template.getMetadata().getLabels();
    Container container = template.getSpec().getContainers().get(0);
    assertThat(container.getImage()).isEqualTo(image);
    assertThat(set.getSpec().getPodManagementPolicy()).isEqualTo("Parallel");
    assertThat(labels).containsAllEntriesOf(set.getSpec().getSelector().getMatchLabels());

    NodeConfig config = checkOptions(set, container);
    checkServices(manifests, set, labels, container, config);
    checkProbes(container);
    checkMounts(set, container, confName, config);
    checkMemory(container, 512);
    assertThat(template.getSpec().getTerminationGracePeriodSeconds())
        .isGreaterThan(NODE_END_SECONDS_MAX);

    PodDisruptionBudget budget = manifests.one(PodDisruptionBudget.class);
    assertThat(labels).containsAllEntriesOf(budget.getSpec().getSelector().getMatchLabels());
    int majority = set.getSpec().getReplicas() / 2 + 1;
    assertThat(set.getSpec().getReplicas() - budget.getSpec().getMaxUnavailable().getIntVal())
        .isGreaterThanOrEqualTo(majority);
  }

  /** Each pod's own command line, read as the program reads it. */
  private static NodeConfig checkOptions(StatefulSet set, Container container) throws IOException {
    int replicas = set.getSpec().getReplicas();
    String name = set.getMetadata().getName();
    NodeConfig config = null;
    for (int ordinal = 0; ordinal < replicas; ordinal++) {
      config = config(container, name + "-" + ordinal);
      assertThat(config.node()).isEqualTo(name + "-" + ordinal);
      String own = config.node() + "." + set.getSpec().getServiceName() + "." + NAMESPACE + ".svc";
      assertThat(config.publicHost()).isEqualTo(own);
      assertThat(config.host()).isEqualTo("10.1.2.3");
      assertThat(config.httpHost()).isEqualTo("0.0.0.0");
      assertThat(config.peers()).hasSize(replicas);
      assertThat(config.peers()).contains(new NodeConfig.Peer(config.node(), own, config.port()));
    }
    return config;
  }

  static NodeConfig config(Container container, String pod) throws IOException {
    List<String> args = expanded(container, pod);
    var serve = Main.commandLine().parseArgs(args.toArray(String[]::new)).subcommand();
    assertThat(serve.commandSpec().name()).isEqualTo("serve");
    Map<String, String> given = new HashMap<>();
    serve
        .matchedOptions()
        .forEach(
            option -> {
              String key = option.longestName().substring(2);
              if (!key.equals("conf")) {
                assertThat(NodeOptions.SETTINGS.byKey()).containsKey(key);
                given.put(key, option.getValue());
              }
            });
    Map<String, Object> file =
        ConfigReader.parse(
            new StringReader(Files.readString(Path.of("conf/evenkeel.yaml"))), "conf");
    // What the pod's environment adds must be settings, too, or not look like any.
    Map<String, String> environment = new HashMap<>();
    container.getEnv().forEach(variable -> environment.put(variable.getName(), "x"));
    return NodeConfig.of(ConfigReader.merge(file, "conf", environment, given));
  }

  /** The arguments with the fields of a pod put in. */
  private static List<String> expanded(Container container, String pod) {
    Map<String, String> fields =
        Map.of(
            "metadata.name", pod,
            "metadata.namespace", NAMESPACE,
            "status.podIP", "10.1.2.3");
    Map<String, String> values = new TreeMap<>();
    for (EnvVar variable : container.getEnv()) {
      if (variable.getValueFrom() != null) {
        String path = variable.getValueFrom().getFieldRef().getFieldPath();
        assertThat(fields).containsKey(path);
        values.put(variable.getName(), fields.get(path));
      }
    }
    List<String> expanded = new ArrayList<>();
    for (String arg : container.getArgs()) {
      String text = arg;
      for (Map.Entry<String, String> value : values.entrySet()) {
        text = text.replace("$(" + value.getKey() + ")", value.getValue());
      }
      assertThat(text.replace("$(cat)", "")).doesNotContain("$(");
      expanded.add(text);
    }
    return expanded;
  }

  private static void checkServices(
      Manifests manifests,
      StatefulSet set,
      Map<String, String> labels,
      Container container,
      NodeConfig config) {
    Map<String, Integer> ports = ports(container);
    assertThat(ports)
        .containsOnly(
            Map.entry("clients", config.port()),
            Map.entry("event-bus", config.eventBusPort()),
            Map.entry("raft", config.raftPort()),
            Map.entry("hazelcast", config.hazelcastPort()),
            Map.entry("http", config.httpPort()));
    for (Service service : manifests.all(Service.class)) {
      assertThat(labels).containsAllEntriesOf(service.getSpec().getSelector());
      for (ServicePort port : service.getSpec().getPorts()) {
        assertThat(ports).containsEntry(port.getTargetPort().getStrVal(), port.getPort());
      }
      if (ports.get("http").equals(service.getSpec().getPorts().get(0).getPort())) {
        String name = service.getMetadata().getName();
        assertThat(config.httpNames())
            .contains(name, name + "." + NAMESPACE, name + "." + NAMESPACE + ".svc");
      }
      // Its variables would be EVENKEEL_SERVICE_..., and the like.
      assertThat(service.getMetadata().getName()).isNotEqualTo("evenkeel");
    }
    Service nodes = manifests.named(Service.class, set.getSpec().getServiceName());
    assertThat(nodes.getSpec().getClusterIP()).isEqualTo("None");
    assertThat(nodes.getSpec().getPublishNotReadyAddresses()).isTrue();
  }

  static Map<String, Integer> ports(Container container) {
    Map<String, Integer> ports = new TreeMap<>();
    container.getPorts().forEach(port -> ports.put(port.getName(), port.getContainerPort()));
    return ports;
  }

  private static void checkProbes(Container container) throws IOException {
    String api;
    try (var in = Main.class.getResourceAsStream("/dev/evenkeel/gateway/http/openapi.json")) {
      api = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    for (var probe :
        List.of(
            container.getStartupProbe(),
            container.getReadinessProbe(),
            container.getLivenessProbe())) {
      assertThat(api).contains("\"" + probe.getHttpGet().getPath() + "\"");
      assertThat(ports(container)).containsKey(probe.getHttpGet().getPort().getStrVal());
      assertThat(probe.getHttpGet().getScheme()).isEqualTo("HTTPS");
    }
    assertThat(container.getReadinessProbe().getHttpGet().getPath()).isEqualTo("/health/ready");
    assertThat(container.getLivenessProbe().getHttpGet().getPath()).isEqualTo("/health/live");
  }

  private static void checkMounts(
      StatefulSet set, Container container, String confName, NodeConfig config) throws IOException {
    Map<String, String> mounts = new TreeMap<>();
    container.getVolumeMounts().forEach(mount -> mounts.put(mount.getName(), mount.getMountPath()));
    TreeSet<String> volumes = new TreeSet<>();
    set.getSpec()
        .getVolumeClaimTemplates()
        .forEach(claim -> volumes.add(claim.getMetadata().getName()));
    assertThat(volumes).containsExactly("data");
    List<Volume> more = set.getSpec().getTemplate().getSpec().getVolumes();
    more.forEach(volume -> volumes.add(volume.getName()));
    TreeSet<String> mounted = new TreeSet<>(mounts.keySet());
    for (Container before : set.getSpec().getTemplate().getSpec().getInitContainers()) {
      before.getVolumeMounts().forEach(mount -> mounted.add(mount.getName()));
    }
    assertThat(mounted).isEqualTo(volumes);
    // A directory below the mount: the file system's own lost+found is none of ours.
    assertThat(config.data()).startsWithRaw(Path.of(mounts.get("data")));
    assertThat(config.data()).isNotEqualTo(Path.of(mounts.get("data")));
    assertThat(mounts).containsEntry("tmp", "/tmp");
    assertThat(more)
        .filteredOn(volume -> volume.getName().equals("conf"))
        .allMatch(volume -> volume.getConfigMap().getName().equals(confName));
    Map<String, Object> kustomization =
        new Yaml().load(Files.readString(Path.of("conf/kustomization.yaml")));
    String generator = kustomization.get("configMapGenerator").toString();
    assertThat(generator).contains("name=evenkeel-conf");
    for (String file : List.of("evenkeel.yaml", "logback.xml")) {
      assertThat(generator).contains(file);
      assertThat(container.getArgs().toString() + container.getEnv())
          .contains("=" + mounts.get("conf") + "/" + file);
    }
  }

  /** Outside of the heap the program needs its share, too. */
  private static void checkMemory(Container container, int besidesMegabytes) {
    String options = variable(container, "JDK_JAVA_OPTIONS");
    Matcher heap = Pattern.compile("-Xmx(\\d+)([mg])").matcher(options);
    assertThat(heap.find()).as(options).isTrue();
    long heapMegabytes = Long.parseLong(heap.group(1)) * (heap.group(2).equals("g") ? 1024 : 1);
    long limit =
        Quantity.getAmountInBytes(container.getResources().getLimits().get("memory")).longValue();
    assertThat(limit >> 20).isGreaterThanOrEqualTo(heapMegabytes + besidesMegabytes);
    assertThat(container.getResources().getRequests()).containsKeys("cpu", "memory");
    assertThat(variable(container, "MALLOC_ARENA_MAX")).isEqualTo("2");
  }

  private static String variable(Container container, String name) {
    return container.getEnv().stream()
        .filter(variable -> variable.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no variable " + name))
        .getValue();
  }

  // ---- the example of a client ----

  private static void checkConsumer(Manifests example, Manifests nodes) throws IOException {
    Deployment deployment = example.one(Deployment.class);
    PodTemplateSpec template = deployment.getSpec().getTemplate();
    Map<String, String> labels = template.getMetadata().getLabels();
    assertThat(labels).containsAllEntriesOf(deployment.getSpec().getSelector().getMatchLabels());
    assertThat(
            nodes.one(NetworkPolicy.class).getSpec().getIngress().stream()
                .map(rule -> rule.getFrom().get(0).getPodSelector().getMatchLabels()))
        .as("the policy lets it through")
        .anyMatch(from -> labels.entrySet().containsAll(from.entrySet()));
    Container container = template.getSpec().getContainers().get(0);
    checkMemory(container, 160);
    String access =
        template.getSpec().getVolumes().stream()
            .filter(volume -> volume.getSecret() != null)
            .map(Volume::getName)
            .findFirst()
            .orElseThrow();
    String where =
        container.getVolumeMounts().stream()
            .filter(mount -> mount.getName().equals(access))
            .map(VolumeMount::getMountPath)
            .findFirst()
            .orElseThrow();
    assertThat(variable(container, "EVENKEEL_CA")).isEqualTo(where + "/ca.crt");
    assertThat(variable(container, "EVENKEEL_TOKEN_FILE")).isEqualTo(where + "/token");
    assertThat(template.getSpec().getTerminationGracePeriodSeconds())
        .isGreaterThan(CONSUMER_END_SECONDS_MAX);
    CommandLine.ParseResult consume =
        Main.commandLine()
            .parseArgs(expanded(container, "orders-consumer-x1").toArray(String[]::new))
            .subcommand();
    assertThat(consume.commandSpec().name()).isEqualTo("consume");
    List<String> cluster = consume.matchedOptionValue("--cluster", List.of());
    Container node =
        nodes.one(StatefulSet.class).getSpec().getTemplate().getSpec().getContainers().get(0);
    assertThat(cluster)
        .containsExactlyElementsOf(
            config(node, "evenkeel-0").peers().stream()
                .map(peer -> peer.host() + ":" + peer.port())
                .toList());
  }

  // ---- kubectl ----

  private static void assumeKubectl() {
    boolean there;
    try {
      Process process =
          new ProcessBuilder("kubectl", "version", "--client")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      there = process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
      process.destroyForcibly();
    } catch (IOException e) {
      there = false;
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    Assumptions.assumeTrue(there, "kubectl is not on the PATH: its kustomize was not tried");
  }

  private String kustomize(Path where) throws IOException, InterruptedException {
    Path out = directory.resolve("out.yaml");
    Path err = directory.resolve("err.txt");
    Process process =
        new ProcessBuilder("kubectl", "kustomize", where.toString())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(err)).isZero();
    return Files.readString(out);
  }
}
