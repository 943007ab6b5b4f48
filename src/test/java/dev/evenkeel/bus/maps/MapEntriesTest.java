package dev.evenkeel.bus.maps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.GroupView.Shard.State;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Entries of the shared maps are read by other versions, and whatever strangers write does not
 * harm.
 */
class MapEntriesTest {
  private static final String KEY = "billing/orders/3";

  /** As 0.1.0 wrote them. */
  private static final JsonObject FORMER_OWNER =
      new JsonObject(
          """
{"owner":"c1","instance":"c1-7f","epoch":4,"nextOwner":"c2","drainDeadline":1700000000000,
 "state":"DRAINING"}
""");

  private static final JsonObject FORMER_MEMBER =
      new JsonObject(
          """
          {"group":"billing","member":"c1","instance":"c1-7f","bornMillis":1700000000000,
           "mode":"sharded","topics":["orders"],"clusterMember":"9f8e","host":"h1","consumed":12,
           "memberTimeoutMillis":5000,"crashLockTimeMillis":0,"graceMillis":0,
           "lastSeenMillis":1700000000500,"term":3}
          """);

  private static Lease lease(String owner, Drain drain) {
    Lease fresh = Lease.fresh("billing", new Shard(1, 3), 4, 0, Generation.FIRST);
    return new Lease(
        fresh.group(),
        fresh.shard(),
        fresh.epoch(),
        owner,
        owner == null ? null : owner + "-7f",
        fresh.committed(),
        fresh.stateOffset(),
        fresh.state(),
        drain,
        fresh.groupTerm(),
        fresh.generation(),
        fresh.ownerTimeoutMillis(),
        fresh.stage(),
        fresh.crashes(),
        fresh.skipped());
  }

  private static JsonObject written(String owner, Drain drain) {
    return OwnershipEntry.of("billing", "orders", 3, lease(owner, drain), 7, 1_700_000_000_000L);
  }

  @Test
  void anOwnerIsWrittenAsDocumented() {
    assertThat(written("c1", null).encode())
        .isEqualTo(
            "{\"v\":1,\"group\":\"billing\",\"topic\":\"orders\",\"shard\":3,\"state\":\"OWNED\","
                + "\"owner\":\"c1\",\"instance\":\"c1-7f\",\"epoch\":4,\"nextOwner\":null,"
                + "\"drainDeadline\":null,\"term\":7,\"writtenMillis\":1700000000000}");
    assertThat(written("c1", new Drain("c2", 9_000)))
        .isEqualTo(
            written("c1", null)
                .put("state", "DRAINING")
                .put("nextOwner", "c2")
                .put("drainDeadline", 9_000L));
    assertThat(written("c1", new Drain("", 9_000)).getString("nextOwner")).isNull();
    assertThat(written(null, null).getString("state")).isEqualTo("FREE");
  }

  @Test
  void whatIsWrittenIsRead() {
    OwnershipEntry owner = OwnershipEntry.of(KEY, written("c1", new Drain("c2", 9_000)));
    assertThat(RecordJson.json(owner)).isEqualTo(written("c1", new Drain("c2", 9_000)));
    JsonObject member = FORMER_MEMBER.copy().put("v", 1);
    assertThat(RegistryEntry.of("billing/c1", member).json()).isEqualTo(member);
  }

  @Test
  void entriesOfTheFormerVersionAreRead() {
    assertThat(OwnershipEntry.of(KEY, FORMER_OWNER))
        .isEqualTo(
            new OwnershipEntry(
                0,
                "billing",
                "orders",
                3,
                State.DRAINING,
                "c1",
                "c1-7f",
                4,
                "c2",
                1_700_000_000_000L,
                0,
                0));
    RegistryEntry member = RegistryEntry.of("billing/c1", FORMER_MEMBER);
    assertThat(member.v()).isZero();
    assertThat(member.topics()).isEqualTo(List.of("orders"));
    assertThat(member.lastSeenMillis()).isEqualTo(1_700_000_000_500L);
  }

  /** A later version adds fields, and keeps those of this one. */
  @Test
  void entriesOfALaterVersionAreRead() {
    JsonObject later = written("c1", null).put("v", 2).put("state", "LENT").put("lender", "c9");
    OwnershipEntry read = OwnershipEntry.of(KEY, later);
    assertThat(read.state()).isNull();
    assertThat(read.owner()).isEqualTo("c1");
    JsonObject member = FORMER_MEMBER.copy().put("v", 2).put("rack", new JsonObject());
    assertThat(RegistryEntry.of("billing/c1", member).v()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"epoch\":\"x\"}",
        "{\"owner\":5,\"epoch\":1}",
        "{\"group\":[],\"member\":1,\"epoch\":{}}",
        "{\"group\":\"billing\",\"member\":\"c1\"}"
      })
  void garbageIsNoEntry(String text) {
    JsonObject json = new JsonObject(text);
    assertThat(OwnershipEntry.of(KEY, json)).isNull();
    assertThat(RegistryEntry.of("billing/c1", json)).isNull();
  }

  @Test
  void anEntryUnderAForeignKeyIsNone() {
    assertThat(RegistryEntry.of("billing/c2", FORMER_MEMBER)).isNull();
    assertThat(Stream.of("hello", "a/b", "a/b/c", "a/b/-1", "a/b/1/2", "a/b/99999999999"))
        .allSatisfy(key -> assertThat(OwnershipEntry.of(key, FORMER_OWNER)).isNull());
    // The key says which shard it is.
    JsonObject other = written("c1", null).put("topic", "other");
    assertThat(OwnershipEntry.of(KEY, other).topic()).isEqualTo("orders");
  }
}
