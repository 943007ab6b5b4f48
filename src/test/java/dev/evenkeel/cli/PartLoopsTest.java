package dev.evenkeel.cli;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PartLoopsTest {
  private static final class Part implements Deployable {
    final List<Object> loops = new CopyOnWriteArrayList<>();
    final List<String> configs = new CopyOnWriteArrayList<>();
    volatile int ended;

    @Override
    public Future<?> deploy(Context context) {
      loops.add(((ContextInternal) context).nettyEventLoop());
      configs.add(context.config().getString("name"));
      return Future.succeededFuture();
    }

    @Override
    public Future<?> undeploy(Context context) {
      ended++;
      return Future.succeededFuture();
    }
  }

  private Vertx vertx;
  private final PartLoops loops = new PartLoops();

  @AfterEach
  void end() {
    await(vertx.close());
  }

  private void begin(int count) {
    vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(count));
  }

  private Part deploy(boolean apart) {
    Part part = new Part();
    JsonObject config = JsonObject.of("name", "n");
    String id =
        await(apart ? loops.deployApart(vertx, part, config) : loops.deploy(vertx, part, config));
    assertThat(part.loops).hasSize(1);
    assertThat(part.configs).containsExactly("n");
    ids.add(id);
    return part;
  }

  private final List<String> ids = new ArrayList<>();

  @Test
  void partThatHoldsUpOthersGetsAnEventLoopThatNoneHas() {
    begin(4);
    List<Object> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      others.addAll(deploy(false).loops);
    }
    assertThat(others).doesNotHaveDuplicates();
    assertThat(deploy(true).loops).doesNotContainAnyElementsOf(others);
  }

  @Test
  void partSharesAnEventLoopIfAllHaveOne() {
    begin(2);
    deploy(false);
    deploy(false);
    Part last = deploy(true);
    await(vertx.undeploy(ids.get(2)));
    assertThat(last.ended).isEqualTo(1);
  }

  @Test
  void oneEventLoopIsForAll() {
    begin(1);
    Part first = deploy(false);
    assertThat(deploy(true).loops).isEqualTo(first.loops);
    await(vertx.undeploy(ids.get(0)));
    assertThat(first.ended).isEqualTo(1);
  }
}
