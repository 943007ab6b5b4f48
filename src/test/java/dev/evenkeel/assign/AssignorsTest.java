package dev.evenkeel.assign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Shard;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AssignorsTest {
  @TempDir Path dir;

  /** Everything to the first member. */
  public static class Own implements Assignor {
    @Override
    public String name() {
      return "own";
    }

    @Override
    public Map<Shard, String> assign(Snapshot snapshot) {
      Map<Shard, String> targets = new HashMap<>();
      String first = snapshot.members().get(0).name();
      snapshot.shards().forEach(held -> targets.put(held.shard(), first));
      return targets;
    }
  }

  public static final class Twin extends Own {}

  public static final class Impostor extends Own {
    @Override
    public String name() {
      return "sticky";
    }
  }

  public static final class BadName extends Own {
    @Override
    public String name() {
      return "My own";
    }
  }

  public static final class Throwing extends Own {
    public Throwing() {
      throw new IllegalStateException("no licence");
    }
  }

  public static final class ThrowingName extends Own {
    @Override
    public String name() {
      throw new IllegalStateException("no name");
    }
  }

  private Assignors withServices(String... lines) throws IOException {
    Path file = dir.resolve("META-INF/services/" + Assignor.class.getName());
    Files.createDirectories(file.getParent());
    Files.write(file, List.of(lines));
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {dir.toUri().toURL()}, getClass().getClassLoader())) {
      return Assignors.load(loader);
    }
  }

  @Test
  void theBuiltInOnesAreThere() {
    assertThat(Assignors.all().keySet())
        .containsExactly("average", "consistent-hash", "load", "sticky");
    assertThat(Assignors.all().get("sticky")).isInstanceOf(StickyAssignor.class);
    assertThat(Assignors.all().get("average")).isInstanceOf(AverageAssignor.class);
    assertThat(Assignors.all().get("consistent-hash")).isInstanceOf(ConsistentHashAssignor.class);
    assertThat(Assignors.all().get("nobody")).isNull();
    assertThat(Assignors.problems()).isEmpty();
  }

  @Test
  void aServiceIsFoundByItsName() throws IOException {
    Assignors found = withServices(Own.class.getName());
    assertThat(found.byName.keySet())
        .containsExactly("average", "consistent-hash", "load", "own", "sticky");
    assertThat(found.byName.get("own")).isInstanceOf(Own.class);
    assertThat(found.problems).isEmpty();
  }

  @Test
  void whatCannotBeUsedIsLeftOutWithAReasonAndTheRestIsThere() throws IOException {
    Assignors found =
        withServices(
            "dev.evenkeel.assign.Missing",
            Throwing.class.getName(),
            AssignorsTest.class.getName(),
            ThrowingName.class.getName(),
            BadName.class.getName(),
            Impostor.class.getName(),
            Own.class.getName(),
            Twin.class.getName());
    assertThat(found.byName.keySet())
        .containsExactly("average", "consistent-hash", "load", "own", "sticky");
    assertThat(found.byName.get("own")).isExactlyInstanceOf(Own.class);
    assertThat(found.byName.get("sticky")).isInstanceOf(StickyAssignor.class);
    assertThat(found.problems).hasSize(7);
    assertThat(found.problems.get(0)).contains("Missing");
    assertThat(found.problems.get(1)).contains("Throwing").contains("no licence");
    assertThat(found.problems.get(2)).contains("not a subtype");
    assertThat(found.problems.get(3)).contains("no name");
    assertThat(found.problems.get(4)).contains("'My own': use 1 to 64 of a-z");
    assertThat(found.problems.get(5)).contains("Impostor is called sticky, which");
    assertThat(found.problems.get(6)).contains("Twin is called own, which");
  }

  @Test
  void aMalformedFileIsTold() throws IOException {
    Assignors found = withServices("no class name", Own.class.getName());
    assertThat(found.byName.keySet())
        .containsExactly("average", "consistent-hash", "load", "sticky");
    assertThat(found.problems).isNotEmpty().allMatch(reason -> !reason.contains("\n"));
  }
}
