package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.ClusterUser.TokenDigest;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Users in the meta log. */
class UserTest {
  private static final String SHA_256 = "ab".repeat(32);

  private final Rig rig = new Rig();

  @BeforeEach
  void begin() {
    rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.USERS));
  }

  private static ClusterUser user(String name, String certificate, String... tokens) {
    return new ClusterUser(
        name,
        List.of(tokens).stream().map(id -> new TokenDigest(id, SHA_256, 5L)).toList(),
        certificate,
        1_500,
        List.of("produce:orders", "view:*"));
  }

  private Reply change(ClusterUser before, ClusterUser after) {
    return rig.run(new MetaCommand.ChangeUser(before, after));
  }

  private static void refused(Refusal why, String words, Reply reply) {
    assertThat(reply).isInstanceOf(Reply.Refused.class);
    Reply.Refused refused = (Reply.Refused) reply;
    assertThat(refused.refusal()).isEqualTo(why);
    assertThat(refused.detail()).contains(words);
  }

  @Test
  void usersAreAddedChangedAndRemoved() {
    ClusterUser shop = user("shop", null, "00000001");
    ClusterUser more = user("shop", "cn", "00000001", "00000002");
    ClusterUser bank = user("bank", null);
    Object version = rig.meta.tables().usersVersion();
    assertThat(change(null, shop)).isEqualTo(Reply.DONE);
    assertThat(rig.meta.tables().usersVersion()).isNotEqualTo(version);
    assertThat(change(null, bank)).isEqualTo(Reply.DONE);
    assertThat(change(shop, more)).isEqualTo(Reply.DONE);
    rig.reopen();
    assertThat(rig.meta.tables().users()).containsExactly(bank, more);
    version = rig.meta.tables().usersVersion();
    assertThat(change(more, null)).isEqualTo(Reply.DONE);
    assertThat(rig.meta.tables().usersVersion()).isNotEqualTo(version);
    rig.reopen();
    assertThat(rig.meta.tables().users()).containsExactly(bank);
  }

  /** A node that was away for long gets them so. Its former users do not stay in force. */
  @Test
  void aSnapshotTakesThePlaceOfTheUsers() throws Exception {
    ClusterUser shop = user("shop", null, "00000001");
    change(null, shop);
    Path snapshot = rig.directory.resolve("snapshot");
    rig.meta.snapshot(snapshot);
    Rig other = new Rig();
    other.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.USERS));
    other.run(new MetaCommand.ChangeUser(null, user("removed", null, "00000002")));
    Object version = other.meta.tables().usersVersion();
    other.meta.restore(snapshot);
    assertThat(other.meta.tables().users()).containsExactly(shop);
    assertThat(other.meta.tables().usersVersion()).isNotEqualTo(version);
  }

  /** Of two who change a user at once, none undoes what the other one did. */
  @Test
  void aChangeOfAFormerUserIsRefusedAndARepeatedOneIsNot() {
    ClusterUser first = user("shop", null, "00000001");
    ClusterUser second = user("shop", null, "00000001", "00000002");
    ClusterUser third = user("shop", null, "00000001", "00000003");
    change(null, first);
    assertThat(change(null, first)).as("repeated").isEqualTo(Reply.DONE);
    assertThat(change(first, second)).isEqualTo(Reply.DONE);
    assertThat(change(first, second)).as("repeated").isEqualTo(Reply.DONE);
    refused(Refusal.OVERLOADED, "try again", change(first, third));
    refused(Refusal.OVERLOADED, "try again", change(null, third));
    refused(Refusal.OVERLOADED, "try again", change(first, null));
    assertThat(change(second, null)).isEqualTo(Reply.DONE);
    assertThat(change(second, null)).as("repeated").isEqualTo(Reply.DONE);
    refused(Refusal.OVERLOADED, "try again", change(second, third));
    assertThat(rig.meta.tables().users()).isEmpty();
  }

  @Test
  void twoUsersShareNoTokenAndNoCertificate() {
    ClusterUser shop = user("shop", "cn", "00000001");
    change(null, shop);
    refused(Refusal.INVALID, "token 00000001", change(null, user("bank", null, "00000001")));
    refused(Refusal.INVALID, "certificate 'cn'", change(null, user("bank", "cn")));
    change(shop, null);
    assertThat(change(null, user("bank", "cn", "00000001"))).isEqualTo(Reply.DONE);
  }

  @Test
  void whatIsMalformedIsRefused() {
    ClusterUser shop = user("shop", null);
    refused(Refusal.INVALID, "no user", change(null, null));
    refused(Refusal.INVALID, "cannot become", change(shop, user("bank", null)));
    for (ClusterUser wrong :
        List.of(
            user("a b", null),
            user("a", null, "x"),
            user("a", null, "00000001", "00000001"),
            user("a", ""),
            new ClusterUser("a", List.of(), null, 99, List.of()),
            new ClusterUser("a", List.of(), null, 100_001, List.of()),
            new ClusterUser(
                "a", List.of(new TokenDigest("00000001", "secret", null)), null, 1_000, List.of()),
            new ClusterUser("a", List.of(), null, 1_000, List.of("produce")))) {
      refused(Refusal.INVALID, "", change(null, wrong));
    }
    String[] eleven =
        IntStream.rangeClosed(0, ClusterUser.TOKENS_MAX)
            .mapToObj(i -> String.format("%08x", i))
            .toArray(String[]::new);
    refused(Refusal.TOO_LARGE, "remove one first", change(null, user("a", null, eleven)));
    List<String> many =
        IntStream.rangeClosed(0, ClusterUser.MAY_MAX).mapToObj(i -> "view:" + i).toList();
    refused(
        Refusal.TOO_LARGE,
        "at most 1000",
        change(null, new ClusterUser("a", List.of(), null, 1_000, many)));
    assertThat(rig.meta.tables().users()).isEmpty();
  }

  @Test
  void aClusterKeepsSoManyUsersAndNoMore() {
    for (int i = 0; i < ClusterUser.USERS_MAX; i++) {
      assertThat(change(null, user("u" + i, null))).isEqualTo(Reply.DONE);
    }
    refused(Refusal.TOO_LARGE, "remove some first", change(null, user("more", null)));
    ClusterUser known = Objects.requireNonNull(rig.meta.tables().user("u7"));
    assertThat(change(known, user("u7", null, "00000001"))).isEqualTo(Reply.DONE);
    assertThat(change(user("u8", null), null)).isEqualTo(Reply.DONE);
    assertThat(change(null, user("more", null))).isEqualTo(Reply.DONE);
  }
}
