package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What the leader of meta lets into the log. */
class TableSharesTest {
  private final Rig rig = new Rig();
  private double weight = 1;
  private final TableShares shares =
      new TableShares(() -> rig.meta.tables(), user -> user.equals("large") ? weight : 1);

  /** What got into the log, and is not applied yet. */
  private final List<MetaCommand> log = new ArrayList<>();

  private final List<Promise<Reply>> answers = new ArrayList<>();

  private Future<Reply> append(MetaCommand command) {
    Promise<Reply> answer = Promise.promise();
    log.add(command);
    answers.add(answer);
    return answer.future();
  }

  private void applyAll() {
    for (int i = 0; i < log.size(); i++) {
      answers.get(i).complete(rig.run(log.get(i)));
    }
    log.clear();
    answers.clear();
  }

  private void raise(int level) {
    rig.run(new MetaCommand.RaiseFeatureLevel(level));
  }

  private static MetaCommand quota(String topic) {
    return new MetaCommand.SetQuota(Quota.perSecond(QuotaKind.TOPIC, topic, 1, 0));
  }

  /** How many quotas it gets until it is refused. */
  private int fill(String user, boolean atOnce) {
    for (int i = 0; ; i++) {
      try {
        shares.append(user, quota(user + i), this::append);
      } catch (RefusedException refused) {
        assertThat(refused.refusal()).isEqualTo(Refusal.TOO_LARGE);
        applyAll();
        return i;
      }
      if (!atOnce) {
        applyAll();
      }
    }
  }

  @Test
  void aUserGetsHalfAndAnotherOneHasRoom() {
    raise(FeatureLevel.NEWEST);
    shares.append(null, quota("ours"), this::append);
    applyAll();
    assertThat(fill("greedy", true)).isEqualTo(5_000);
    assertThatThrownBy(() -> shares.append("greedy", quota("more"), this::append))
        .hasMessageContaining(
            "the user 'greedy' has 5000 of the 10000 quotas of the cluster, and 5001 are taken:"
                + " clear quotas that you do not need");
    assertThat(log).as("nothing of it gets into the log").isEmpty();
    assertThat(fill("shop", false)).isEqualTo(2_500);
    shares.append("greedy", quota("greedy7"), this::append);
    assertThat(log).as("a change of one that is there").containsExactly(quota("greedy7"));
    applyAll();
    assertThat(TableShares.uses(rig.meta.tables()))
        .containsExactly(
            new ShareUse("quotas", "greedy", 5_000, 10_000),
            new ShareUse("quotas", "shop", 2_500, 10_000));
    shares.append(
        "greedy", new MetaCommand.SetQuota(Quota.none(QuotaKind.TOPIC, "greedy1")), this::append);
    applyAll();
    assertThat(rig.meta.tables().owners().count(SharedTable.QUOTAS, "greedy")).isEqualTo(4_999);
  }

  @Test
  void aLargerShareIsMore() {
    raise(FeatureLevel.NEWEST);
    weight = 3;
    assertThat(fill("large", true)).isEqualTo(7_500);
    assertThat(fill("shop", true)).isEqualTo(1_250);
  }

  @Test
  void whatIsOnItsWayCountsUntilItFails() {
    raise(FeatureLevel.NEWEST);
    for (int i = 0; i < 5_000; i++) {
      shares.append("greedy", quota("q" + i), this::append);
    }
    assertThatThrownBy(() -> shares.append("greedy", quota("more"), this::append))
        .isInstanceOf(RefusedException.class);
    answers.forEach(each -> each.fail(Refusal.NOT_LEADER.error("another one")));
    log.clear();
    answers.clear();
    assertThat(fill("greedy", true)).isEqualTo(5_000);
  }

  @Test
  void whatCannotBeWrittenDoesNotCount() {
    raise(FeatureLevel.NEWEST);
    for (int i = 0; i < 6_000; i++) {
      assertThatThrownBy(
              () ->
                  shares.append(
                      "shop",
                      quota("q"),
                      none -> {
                        throw Refusal.INVALID.error("not written");
                      }))
          .hasMessageContaining("not written");
    }
    assertThat(fill("shop", true)).isEqualTo(5_000);
  }

  @Test
  void aClusterWithNodesOfTheFormerVersionGoesOnAsBefore() {
    raise(FeatureLevel.TABLE_OWNERS - 1);
    shares.append("shop", quota("q"), this::append);
    assertThat(log).containsExactly(quota("q"));
  }

  @Test
  void onlyWhatMakesARowIsTheUsers() {
    raise(FeatureLevel.NEWEST);
    List<MetaCommand> none =
        List.of(
            new MetaCommand.RegisterProducer(""),
            new MetaCommand.ContinueProducer("p", 0),
            new MetaCommand.SetQuota(Quota.none(QuotaKind.TOPIC, "t")));
    none.forEach(each -> shares.append("shop", each, this::append));
    assertThat(log).isEqualTo(none);
    shares.append("shop", new MetaCommand.RegisterProducer("p"), this::append);
    assertThat(log).contains(new MetaCommand.ByUser("shop", new MetaCommand.RegisterProducer("p")));
  }

  /** Whatever some users with shares like their own take, in whatever order. */
  @Test
  void nobodyGetsMoreThanItsShareAndThereIsRoomForAnother() {
    long seed = 471_000;
    for (int run = 0; run < 200; run++) {
      Random random = new Random(seed + run);
      SharedTable table = SharedTable.values()[random.nextInt(SharedTable.values().length)];
      int users = 1 + random.nextInt(6);
      double[] weights = random.doubles(users, 0.1, 4).toArray();
      long[] own = new long[users];
      long all = random.nextInt(table.max() / 2);
      boolean any = true;
      while (any) {
        any = false;
        int start = random.nextInt(users);
        for (int i = 0; i < users; i++) {
          int user = (start + i) % users;
          boolean fits =
              new TableShare(table, "u", own[user], all, weights[user]).refusal() == null;
          any |= fits;
          if (fits) {
            own[user]++;
            all++;
          }
        }
      }
      for (int i = 0; i < users; i++) {
        assertThat((double) own[i])
            .as("seed %d", seed + run)
            .isLessThanOrEqualTo(table.max() * weights[i] / (1 + weights[i]));
      }
      assertThat(new TableShare(table, "other", 0, all, 1).refusal())
          .as("seed %d: %s of %s", seed + run, all, table)
          .isNull();
    }
  }

  @Test
  void aFullTableRefusesEverybody() {
    for (SharedTable table : SharedTable.values()) {
      assertThat(new TableShare(table, "u", 0, table.max(), 100).refusal()).isNotNull();
      assertThat(new TableShare(table, "u", 0, table.max() - 1, 1).refusal()).isNull();
    }
  }
}
