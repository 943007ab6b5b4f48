package dev.evenkeel.cli;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Kubernetes manifests as objects; a field that Kubernetes does not know is an error. */
final class Manifests {
  private final List<HasMetadata> all;

  private Manifests(List<HasMetadata> all) {
    this.all = all;
  }

  /** All files of a directory but its kustomization. */
  static Manifests read(Path directory) throws IOException {
    StringBuilder text = new StringBuilder();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".yaml") && !name.equals("kustomization.yaml")) {
          text.append("---\n").append(Files.readString(file)).append('\n');
        }
      }
    }
    return parse(text.toString());
  }

  static Manifests parse(String text) {
    KubernetesSerialization serialization = new KubernetesSerialization();
    List<HasMetadata> all = new ArrayList<>();
    for (String document : text.split("(?m)^---$")) {
      if (document.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#"))) {
        Object read = serialization.unmarshal(document);
        if (!(read instanceof HasMetadata resource)) {
          throw new AssertionError("not a resource: " + document);
        }
        checkFields(resource, resource.getKind() + " " + resource.getMetadata().getName());
        all.add(resource);
      }
    }
    return new Manifests(all);
  }

  /**
   * The model keeps what it does not know aside, at each level. It knows nothing of cert-manager's
   * resources, and reads those as generic ones.
   */
  private static void checkFields(Object object, String where) {
    if (object instanceof GenericKubernetesResource generic) {
      if (!generic.getApiVersion().equals("cert-manager.io/v1")) {
        throw new AssertionError(where + " is of no known kind");
      }
    } else if (object instanceof Collection<?> many) {
      many.forEach(each -> checkFields(each, where));
    } else if (object instanceof Map<?, ?> map) {
      map.forEach((key, value) -> checkFields(value, where + "." + key));
    } else if (object != null && object.getClass().getName().startsWith("io.fabric8.")) {
      for (Method method : object.getClass().getMethods()) {
        if (method.getParameterCount() > 0
            || !method.getName().startsWith("get")
            || method.getName().equals("getClass")) {
          continue;
        }
        Object value = call(method, object);
        if (method.getName().equals("getAdditionalProperties")) {
          if (value instanceof Map<?, ?> unknown && !unknown.isEmpty()) {
            throw new AssertionError(where + " has unknown fields: " + unknown.keySet());
          }
        } else {
          checkFields(value, where + "." + method.getName().substring(3));
        }
      }
    }
  }

  private static Object call(Method getter, Object object) {
    try {
      return getter.invoke(object);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(getter + ": " + e, e);
    }
  }

  <T extends HasMetadata> List<T> all(Class<T> type) {
    return all.stream().filter(type::isInstance).map(type::cast).toList();
  }

  /** cert-manager's resources of a kind. */
  List<GenericKubernetesResource> certManager(String kind) {
    return all(GenericKubernetesResource.class).stream()
        .filter(resource -> resource.getKind().equals(kind))
        .toList();
  }

  <T extends HasMetadata> T one(Class<T> type) {
    List<T> found = all(type);
    if (found.size() != 1) {
      throw new AssertionError(found.size() + " of " + type.getSimpleName());
    }
    return found.get(0);
  }

  <T extends HasMetadata> T named(Class<T> type, String name) {
    return all(type).stream()
        .filter(resource -> resource.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + type.getSimpleName() + " '" + name + "'"));
  }
}
