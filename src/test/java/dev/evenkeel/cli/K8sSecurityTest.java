package dev.evenkeel.cli;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.SecretProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who can reach what in Kubernetes, who has which key, and what a pod may do. */
class K8sSecurityTest {
  /** Mode 0440. */
  private static final int READ_BY_USER_AND_GROUP = 288;

  /** The fields of cert-manager's API that the manifests use: others are mistakes. */
  private static final Set<String> CERTIFICATE_FIELDS =
      Set.of(
          words(
              """
              isCA commonName dnsNames ipAddresses secretName duration renewBefore privateKey
              usages issuerRef
              """));

  @TempDir Path directory;
  private Manifests manifests;
  private StatefulSet set;
  private PodSpec pod;
  private Container node;
  private NodeConfig config;

  @BeforeEach
  void read() throws IOException {
    manifests = Manifests.read(K8sManifestsTest.K8S);
    set = manifests.one(StatefulSet.class);
    pod = set.getSpec().getTemplate().getSpec();
    node = pod.getContainers().get(0);
    config = K8sManifestsTest.config(node, "evenkeel-0");
  }

  // ---- TLS and users ----

  @Test
  void nodesListenWithTlsAndUsersOnly() {
    assertThat(config.peerTls()).isEqualTo(mount("peer-tls"));
    assertThat(config.tls()).isEqualTo(mount("tls"));
    assertThat(config.users()).isEqualTo(mount("users").resolve("users.json"));
    assertThat(config.get(NodeOptions.INSECURE)).isFalse();
    assertThat(config.get(NodeOptions.ALLOW_BUS_MEMBERS)).isFalse();
  }

  private Path mount(String volume) {
    return node.getVolumeMounts().stream()
        .filter(mount -> mount.getName().equals(volume))
        .map(mount -> Path.of(mount.getMountPath()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no mount of " + volume));
  }

  // ---- certificates ----

  @Test
  void everyNodeHasACertificateThatNamesItAndNoOther() throws IOException {
    Set<String> secrets = new HashSet<>();
    for (int ordinal = 0; ordinal < set.getSpec().getReplicas(); ordinal++) {
      String name = set.getMetadata().getName() + "-" + ordinal;
      Map<String, Object> spec = certificate(name);
      assertThat(spec.get("commonName")).isEqualTo(name);
      assertThat(strings(spec.get("dnsNames")))
          .containsExactlyInAnyOrder(name, K8sManifestsTest.config(node, name).publicHost());
      assertThat(strings(spec.get("usages")))
          .contains("digital signature", "server auth", "client auth");
      assertThat(issuer(spec)).isEqualTo("evenkeel-nodes");
      secrets.add((String) spec.get("secretName"));
      assertThat(projected(name)).isEqualTo(spec.get("secretName"));
    }
    assertThat(secrets).hasSize(set.getSpec().getReplicas());
  }

  /** The Secret whose files the directory of a node has. */
  private String projected(String node) {
    SecretProjection found =
        volume("certificates").getProjected().getSources().stream()
            .map(source -> source.getSecret())
            .filter(secret -> secret.getItems().get(0).getPath().startsWith(node + "/"))
            .findFirst()
            .orElseThrow(() -> new AssertionError("no files for " + node));
    assertThat(found.getItems())
        .allMatch(item -> item.getPath().equals(node + "/" + item.getKey()))
        .extracting(item -> item.getKey())
        .containsExactlyInAnyOrder("tls.crt", "tls.key", "ca.crt");
    return found.getName();
  }

  @Test
  void applicationsTrustAnotherAuthorityForAllNamesOfNodes() {
    Map<String, Object> spec = certificate("evenkeel-applications");
    List<String> names = new ArrayList<>(config.httpNames());
    config.peers().forEach(peer -> names.add(peer.host()));
    assertThat(strings(spec.get("dnsNames"))).containsAll(names).contains("localhost");
    assertThat(strings(spec.get("usages"))).contains("server auth").doesNotContain("client auth");
    assertThat(issuer(spec)).isEqualTo("evenkeel-applications");
    assertThat(volume("tls").getSecret().getSecretName()).isEqualTo(spec.get("secretName"));
  }

  @Test
  void noPodHasTheKeyOfAnAuthority() {
    Set<String> keys = new HashSet<>();
    for (String name : List.of("evenkeel-nodes", "evenkeel-applications")) {
      Map<String, Object> authority = certificate(name + "-ca");
      assertThat(authority.get("isCA")).isEqualTo(true);
      assertThat(issuer(authority)).isEqualTo("evenkeel-self-signed");
      assertThat(spec(named("Issuer", name)))
          .isEqualTo(Map.of("ca", Map.of("secretName", authority.get("secretName"))));
      // Otherwise its next certificate would not be that of those that it has signed.
      assertThat(map(authority.get("privateKey")).get("rotationPolicy")).isEqualTo("Never");
      keys.add((String) authority.get("secretName"));
    }
    assertThat(keys).hasSize(2);
    Set<String> mounted = new HashSet<>();
    for (Volume volume : pod.getVolumes()) {
      if (volume.getSecret() != null) {
        mounted.add(volume.getSecret().getSecretName());
      } else if (volume.getProjected() != null) {
        volume.getProjected().getSources().forEach(each -> mounted.add(each.getSecret().getName()));
      }
    }
    assertThat(mounted).doesNotContainAnyElementsOf(keys);
  }

  @Test
  void certManagerKnowsAllFields() {
    for (GenericKubernetesResource each : manifests.certManager("Certificate")) {
      assertThat(CERTIFICATE_FIELDS).containsAll(spec(each).keySet());
      assertThat(map(spec(each).get("privateKey")).keySet())
          .isSubsetOf("algorithm", "size", "encoding", "rotationPolicy");
      named("Issuer", issuer(spec(each)));
    }
  }

  private Map<String, Object> certificate(String name) {
    return spec(named("Certificate", name));
  }

  private GenericKubernetesResource named(String kind, String name) {
    return manifests.certManager(kind).stream()
        .filter(each -> each.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " " + name));
  }

  private static Map<String, Object> spec(GenericKubernetesResource resource) {
    return map(resource.getAdditionalProperties().get("spec"));
  }

  private static String issuer(Map<String, Object> certificate) {
    return (String) map(certificate.get("issuerRef")).get("name");
  }

  private static Map<String, Object> map(Object object) {
    Map<String, Object> map = new HashMap<>();
    ((Map<?, ?>) object).forEach((key, value) -> map.put((String) key, value));
    return map;
  }

  private static List<String> strings(Object list) {
    return ((List<?>) list).stream().map(String.class::cast).toList();
  }

  // ---- files with keys ----

  @Test
  void secretsAreReadOnlyAndFollowTheirSource() throws IOException {
    for (PodSpec each : pods()) {
      Set<String> secrets = new HashSet<>();
      for (Volume volume : each.getVolumes()) {
        if (volume.getSecret() != null) {
          secrets.add(volume.getName());
          assertThat(volume.getSecret().getDefaultMode()).isEqualTo(READ_BY_USER_AND_GROUP);
        } else if (volume.getProjected() != null) {
          secrets.add(volume.getName());
          assertThat(volume.getProjected().getDefaultMode()).isEqualTo(READ_BY_USER_AND_GROUP);
        }
      }
      assertThat(secrets).isNotEmpty();
      // The files belong to root and to this group.
      assertThat(each.getSecurityContext().getFsGroup()).isEqualTo(10_001);
      for (Container container : containers(each)) {
        for (VolumeMount mount : container.getVolumeMounts()) {
          if (secrets.contains(mount.getName())) {
            assertThat(mount.getReadOnly()).isTrue();
            // With these, Kubernetes does not bring a changed Secret into the container.
            assertThat(mount.getSubPath()).isNull();
            assertThat(mount.getSubPathExpr()).isNull();
          }
        }
      }
    }
  }

  @Test
  void theNodeSeesTheKeyOfNoOtherNode() {
    assertThat(node.getVolumeMounts()).noneMatch(mount -> mount.getName().equals("certificates"));
    Container copier = copier();
    assertThat(copier.getRestartPolicy()).isEqualTo("Always");
    assertThat(copier.getStartupProbe().getExec().getCommand()).contains("/peer-tls/ca.crt");
    assertThat(volume("peer-tls").getEmptyDir().getMedium()).isEqualTo("Memory");
    assertThat(copier.getImage()).isEqualTo(node.getImage());
  }

  /** Runs the script of the manifest, with its directories elsewhere. */
  @Test
  void thePodsOwnCertificateIsCopiedAndSoIsTheNext() throws Exception {
    Path all = directory.resolve("all");
    Path own = Files.createDirectory(directory.resolve("own"));
    write(all, "evenkeel-0", "first");
    write(all, "evenkeel-1", "of another node");
    String script =
        copier()
            .getCommand()
            .get(2)
            .replace("/certificates", all.toString())
            .replace("/peer-tls", own.toString())
            .replace("sleep 10", "sleep 0.1");
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", script).inheritIO();
    builder.environment().put("POD_NAME", "evenkeel-0");
    Process process = builder.start();
    try {
      awaitFiles(own, "first");
      write(all, "evenkeel-0", "second");
      awaitFiles(own, "second");
      try (Stream<Path> files = Files.list(own)) {
        assertThat(files)
            .hasSize(3)
            .allMatch(file -> mode(file).equals("r--r-----"), "only user and group read it");
      }
      process.destroy();
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).as("ends when the pod ends").isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void write(Path all, String node, String text) throws IOException {
    Path files = Files.createDirectories(all.resolve(node));
    for (String name : List.of("tls.crt", "tls.key", "ca.crt")) {
      Files.writeString(files.resolve(name), name + " " + text);
    }
  }

  private static void awaitFiles(Path own, String text) {
    Wait.untilAsserted(
        20,
        () -> {
          for (String name : List.of("tls.crt", "tls.key", "ca.crt")) {
            assertThat(own.resolve(name)).hasContent(name + " " + text);
          }
        });
  }

  private static String mode(Path file) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private Container copier() {
    assertThat(pod.getInitContainers()).hasSize(1);
    return pod.getInitContainers().get(0);
  }

  private Volume volume(String name) {
    return pod.getVolumes().stream()
        .filter(volume -> volume.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no volume " + name));
  }

  // ---- what a pod may do ----

  @Test
  void podsHaveNoRightThatTheyDoNotNeed() throws IOException {
    for (PodSpec each : pods()) {
      assertThat(each.getEnableServiceLinks()).isFalse();
      assertThat(each.getAutomountServiceAccountToken()).isFalse();
      assertThat(each.getSecurityContext().getRunAsNonRoot()).isTrue();
      assertThat(each.getSecurityContext().getRunAsUser()).isEqualTo(10_001);
      assertThat(each.getSecurityContext().getSeccompProfile().getType())
          .isEqualTo("RuntimeDefault");
      for (Container container : containers(each)) {
        var context = container.getSecurityContext();
        assertThat(context.getAllowPrivilegeEscalation()).isFalse();
        assertThat(context.getReadOnlyRootFilesystem()).isTrue();
        assertThat(context.getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(container.getResources().getLimits()).containsKey("memory");
      }
      String temporary =
          each.getContainers().get(0).getVolumeMounts().stream()
              .filter(mount -> mount.getMountPath().equals("/tmp"))
              .map(VolumeMount::getName)
              .findFirst()
              .orElseThrow();
      assertThat(each.getVolumes())
          .anyMatch(volume -> volume.getName().equals(temporary) && volume.getEmptyDir() != null);
    }
  }

  private List<PodSpec> pods() throws IOException {
    Deployment example = Manifests.read(K8sManifestsTest.EXAMPLE).one(Deployment.class);
    return List.of(pod, example.getSpec().getTemplate().getSpec());
  }

  private static List<Container> containers(PodSpec pod) {
    List<Container> all = new ArrayList<>(pod.getContainers());
    all.addAll(pod.getInitContainers());
    return all;
  }

  // ---- who reaches whom ----

  @Test
  void onlyNodesReachInternalPortsAndOnlyLabelledPodsTheOthers() {
    var spec = manifests.one(NetworkPolicy.class).getSpec();
    PodTemplateSpec template = set.getSpec().getTemplate();
    Map<String, String> labels = template.getMetadata().getLabels();
    assertThat(labels).containsAllEntriesOf(spec.getPodSelector().getMatchLabels());
    assertThat(spec.getPolicyTypes()).containsExactlyInAnyOrder("Ingress", "Egress");
    Map<String, NetworkPolicyPeer> from = new HashMap<>();
    spec.getIngress()
        .forEach(
            rule -> {
              assertThat(rule.getFrom()).hasSize(1);
              for (String port : ports(rule.getPorts())) {
                assertThat(from.put(port, rule.getFrom().get(0))).as(port).isNull();
              }
            });
    assertThat(from.keySet()).isEqualTo(K8sManifestsTest.ports(node).keySet());
    for (String port : List.of("event-bus", "raft", "hazelcast")) {
      assertThat(isNodes(from.get(port))).as(port).isTrue();
    }
    assertThat(from.get("clients").getPodSelector().getMatchLabels())
        .isEqualTo(Map.of("evenkeel.dev/client", "true"));
    assertThat(from.get("http").getPodSelector().getMatchLabels())
        .isEqualTo(Map.of("evenkeel.dev/http", "true"));
    for (String port : List.of("clients", "http")) {
      assertThat(from.get(port).getNamespaceSelector().getMatchLabels())
          .isEqualTo(Map.of("evenkeel.dev/clients", "true"));
    }
  }

  @Test
  void nodesReachNodesAndDnsOnly() {
    var egress = manifests.one(NetworkPolicy.class).getSpec().getEgress();
    assertThat(egress).hasSize(2).allMatch(rule -> rule.getTo().size() == 1);
    assertThat(isNodes(egress.get(0).getTo().get(0))).isTrue();
    assertThat(ports(egress.get(0).getPorts()))
        .containsExactlyInAnyOrder("event-bus", "raft", "hazelcast");
    assertThat(egress.get(1).getTo().get(0).getNamespaceSelector().getMatchLabels())
        .isEqualTo(Map.of("kubernetes.io/metadata.name", "kube-system"));
    assertThat(ports(egress.get(1).getPorts())).containsExactly("53", "53");
  }

  /** Pods of this namespace, those of the StatefulSet alone. */
  private boolean isNodes(NetworkPolicyPeer peer) {
    return peer.getNamespaceSelector() == null
        && peer.getIpBlock() == null
        && peer.getPodSelector()
            .getMatchLabels()
            .equals(set.getSpec().getSelector().getMatchLabels());
  }

  private static List<String> ports(List<NetworkPolicyPort> ports) {
    return ports.stream().map(port -> String.valueOf(port.getPort().getValue())).toList();
  }
}
