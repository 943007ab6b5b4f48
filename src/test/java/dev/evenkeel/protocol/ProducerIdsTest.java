package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.StringLength;

class ProducerIdsTest {
  @Property
  void anIdKeepsItsNumberAndSaysWhoseItIs(
      @ForAll @LongRange(min = 1, max = (1L << 40) - 1) long number,
      @ForAll @StringLength(max = 40) String name) {
    long ofUser = ProducerIds.ofUser(number, name);
    long ofGroup = ProducerIds.ofGroup(ofUser, name);
    for (long id : new long[] {ofUser, ofGroup, ProducerIds.ofMember(number)}) {
      assertThat(id).isPositive();
      assertThat(ProducerIds.number(id)).isEqualTo(number);
      assertThat(SpoolPublisher.producerId(SpoolPublisher.id(id))).isEqualTo(id);
      assertThat(SpoolPublisher.id(id)).isNotEqualTo(id);
    }
    assertThat(ProducerIds.tag(ofUser)).isEqualTo(ProducerIds.tagOf(name)).isPositive();
    assertThat(ProducerIds.tag(ofGroup)).isEqualTo(ProducerIds.tagOf(name));
    assertThat(ProducerIds.tagOf(name)).isNotEqualTo(ProducerIds.tag(ProducerIds.ofMember(1)));
    assertThat(ProducerIds.isOfGroup(ofGroup)).isTrue();
    assertThat(ProducerIds.isOfGroup(ofUser)).isFalse();
    assertThat(ProducerIds.tag(number)).isZero();
  }
}
