package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import java.util.List;
import org.junit.jupiter.api.Test;

class GroupLeaseTest {
  private final Rig rig = Rig.opened();

  private void declare() {
    rig.run(
        Commands.declareGroup(
            "g", GroupPolicy.of("level"), List.of("orders"), StartAt.EARLIEST, false));
  }

  private Reply grant(String holder, String instance, long expectedTerm) {
    return rig.run(new MetaCommand.GrantGroupLease("g", holder, instance, expectedTerm, 0));
  }

  private Reply release(String instance, long term) {
    return rig.run(new MetaCommand.ReleaseGroupLease("g", instance, term));
  }

  private GroupLease lease() {
    return rig.meta.tables().groupLease("g");
  }

  private static Refusal refusal(Reply reply) {
    return reply instanceof Reply.Refused refused ? refused.refusal() : null;
  }

  private Refusal grantShard(String owner, long expectedEpoch, long groupTerm) {
    return refusal(
        rig.run(
            Commands.grant("g", SHARD, owner, "run", expectedEpoch, StartAt.EARLIEST, groupTerm)));
  }

  @Test
  void itIsGrantedByCompareAndSet() {
    assertThat(refusal(grant("dispatcher@n1", "i1", 0))).isEqualTo(Refusal.UNKNOWN_GROUP);
    declare();
    assertThat(lease()).isEqualTo(GroupLease.none("g"));
    GroupLease first = new GroupLease("g", 1, "dispatcher@n1", "i1");
    assertThat(grant("dispatcher@n1", "i1", 0)).isEqualTo(new Reply.OfGroupLease(first));
    assertThat(grant("dispatcher@n1", "i1", 0))
        .as("its answer was lost")
        .isEqualTo(new Reply.OfGroupLease(first));
    Reply.Refused fenced = (Reply.Refused) grant("dispatcher@n2", "i2", 0);
    assertThat(fenced.refusal()).isEqualTo(Refusal.FENCED);
    assertThat(fenced.detail())
        .isEqualTo("term 0 of group 'g': its lease is at term 1, held by dispatcher@n1");
    assertThat(grant("dispatcher@n2", "i2", 1))
        .isEqualTo(new Reply.OfGroupLease(new GroupLease("g", 2, "dispatcher@n2", "i2")));
    assertThat(refusal(grant("dispatcher@n1", "i1", 0)))
        .as("another has it since")
        .isEqualTo(Refusal.FENCED);
    assertThat(refusal(grant("dispatcher@n1", "i1", 1))).isEqualTo(Refusal.FENCED);
  }

  @Test
  void onlyItsHolderLetsGoAndTheTermStays() throws Exception {
    declare();
    grant("a", "i1", 0);
    assertThat(refusal(release("i2", 1))).isEqualTo(Refusal.FENCED);
    assertThat(refusal(release("i1", 0))).isEqualTo(Refusal.FENCED);
    GroupLease free = new GroupLease("g", 1, null, null);
    assertThat(release("i1", 1)).isEqualTo(new Reply.OfGroupLease(free));
    assertThat(release("i1", 1)).as("a repeat").isEqualTo(new Reply.OfGroupLease(free));
    rig.meta.close();
    rig.meta.open();
    assertThat(lease()).isEqualTo(free);
    assertThat(refusal(grant("a", "i1", 0)))
        .as("let go is let go, also for a repeat of the grant")
        .isEqualTo(Refusal.FENCED);
    grant("b", "i2", 1);
    rig.meta.close();
    rig.meta.open();
    assertThat(lease()).isEqualTo(new GroupLease("g", 2, "b", "i2"));
    assertThat(rig.meta.tables().groupLeases()).containsExactly(lease());
  }

  private Reply grantAtTerm(String instance, long expectedTerm, long dispatcherTerm) {
    return rig.run(
        new MetaCommand.GrantGroupLease("g", instance, instance, expectedTerm, dispatcherTerm));
  }

  /** The next dispatcher may know that the holder lives, and it does not know of the grant. */
  @Test
  void aGrantOfAFormerDispatcherThatComesLateIsRefused() {
    declare();
    rig.metaTerm = 5;
    assertThat(refusal(grantAtTerm("i1", 0, 5))).isNull();
    GroupLease first = lease();
    rig.metaTerm = 7;
    Reply.Refused late = (Reply.Refused) grantAtTerm("i2", 1, 5);
    assertThat(late.refusal()).isEqualTo(Refusal.FENCED);
    assertThat(late.detail()).contains("dispatcher of term 5", "meta log is at term 7");
    assertThat(refusal(grantAtTerm("i1", 0, 5))).as("a repeat").isEqualTo(Refusal.FENCED);
    assertThat(lease()).isEqualTo(first);
    assertThat(refusal(grantAtTerm("i2", 1, 7))).isNull();
    assertThat(refusal(grant("c", "i3", 2))).as("of a node of a former version").isNull();
  }

  @Test
  void itGoesWithTheGroup() {
    declare();
    grant("a", "i1", 0);
    rig.run(new MetaCommand.ForgetGroup("g"));
    assertThat(refusal(release("i1", 1))).isEqualTo(Refusal.UNKNOWN_GROUP);
    assertThat(rig.meta.tables().groupLeases()).isEmpty();
    declare();
    assertThat(lease()).isEqualTo(GroupLease.none("g"));
    assertThat(refusal(release("i1", 1))).isEqualTo(Refusal.FENCED);
  }

  @Test
  void itsTermGoesOnAfterTheGroupWasForgotten() throws Exception {
    declare();
    grant("a", "i1", 0);
    grant("b", "i2", 1);
    rig.run(new MetaCommand.ForgetGroup("g"));
    rig.meta.close();
    rig.meta.open();
    declare();
    GroupLease next = new GroupLease("g", 3, "c", "i3");
    assertThat(refusal(grant("b", "i2", 2))).isEqualTo(Refusal.FENCED);
    assertThat(grant("c", "i3", 0)).isEqualTo(new Reply.OfGroupLease(next));
    assertThat(grant("c", "i3", 0))
        .as("its answer was lost")
        .isEqualTo(new Reply.OfGroupLease(next));
    assertThat(refusal(grant("a", "i1", 0))).isEqualTo(Refusal.FENCED);
  }

  @Test
  void refusesWhatMakesNoSense() {
    declare();
    assertThat(refusal(grant("a b", "i", 0))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(grant("a", "", 0))).isEqualTo(Refusal.INVALID);
    assertThat(refusal(grant("a", "i", -1))).isEqualTo(Refusal.FENCED);
    assertThat(grantShard("a", 0, -1)).isEqualTo(Refusal.INVALID);
    assertThat(grantShard("dispatcher@n1", 0, 0))
        .as("only whoever has the group")
        .isEqualTo(Refusal.INVALID);
    assertThat(lease()).isEqualTo(GroupLease.none("g"));
  }

  @Test
  void aShardsLeaseKeepsTheTermAndFencesLowerOnes() throws Exception {
    rig.fill(SHARD, 10);
    assertThat(grantShard("dispatcher@n1", 0, 3)).isNull();
    assertThat(grantShard("dispatcher@n0", 1, 2)).isEqualTo(Refusal.FENCED);
    assertThat(grantShard("a", 1, 0)).isEqualTo(Refusal.FENCED);
    assertThat(grantShard("dispatcher@n1", 1, 3)).isNull();
    rig.run(Commands.commit("g", SHARD, 2, 4, 2));
    rig.run(new DataCommand.SetDrain("g", SHARD, 2, null));
    rig.run(new DataCommand.Release("g", SHARD, 2, 5, 5, new byte[] {1}));
    rig.data.close();
    rig.data.open();
    Lease lease = rig.data.leaseWithState("g", SHARD);
    assertThat(lease.groupTerm()).isEqualTo(3);
    assertThat(lease.state()).containsExactly(1);
    assertThat(rig.tables().lease("g", SHARD).groupTerm()).isEqualTo(3);
    assertThat(grantShard("dispatcher@n0", 2, 2)).isEqualTo(Refusal.FENCED);
    assertThat(grantShard("dispatcher@n2", 2, 4)).isNull();
    rig.run(Commands.forgetLeases("g"));
    assertThat(grantShard("a", 0, 0)).isNull();
  }
}
