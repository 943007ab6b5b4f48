package dev.evenkeel.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.evenkeel.dispatcher.core.DispatcherAction;
import dev.evenkeel.dispatcher.core.ShardStep;
import dev.evenkeel.dispatcher.level.LevelDispatcher;
import dev.evenkeel.dispatcher.level.core.LevelAction;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a deciding half wants is known, each kind of it, to the one place that carries it out. */
class ActionsAreCarriedOutTest {

  private static void carriesOutEach(Class<?> sealed, Class<?> place) {
    JavaClass known = new ClassFileImporter().importClasses(place).get(place);
    Set<String> uses =
        known.getDirectDependenciesFromSelf().stream()
            .map(Dependency::getTargetClass)
            .map(JavaClass::getName)
            .collect(Collectors.toSet());
    assertThat(uses)
        .containsAll(Stream.of(sealed.getPermittedSubclasses()).map(Class::getName).toList());
  }

  @Test
  void theDispatcherKnowsEachOfItsActions() {
    carriesOutEach(DispatcherAction.class, Activation.class);
  }

  @Test
  void aLevelDispatcherKnowsEachOfItsActions() {
    carriesOutEach(LevelAction.class, LevelDispatcher.class);
  }

  @Test
  void aPlanKnowsEachStepOfAShard() throws ClassNotFoundException {
    carriesOutEach(ShardStep.class, Class.forName("dev.evenkeel.dispatcher.core.GroupPlan"));
  }
}
