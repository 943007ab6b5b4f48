package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.CandidateView;
import dev.evenkeel.client.LeaderContext;
import org.junit.jupiter.api.Test;

/** What the caller of a candidate reads, who may rely on it. */
class PolledCandidateTest {
  private static final CandidateView NOTHING = new CandidateView(false, null, false);
  private static final CandidateView HANDS_OVER = new CandidateView(false, 7L, true);

  /** A leadership at term 7. */
  private static final class Leadership implements LeaderContext {
    private boolean handingOver;
    private boolean over;
    private boolean cutOff;

    @Override
    public long term() {
      return 7;
    }

    @Override
    public String member() {
      return "a";
    }

    @Override
    public boolean isHandingOver() {
      return handingOver;
    }

    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public boolean isLeading() {
      return !over && !handingOver && !cutOff;
    }

    @Override
    public void resign() {
      handingOver = true;
    }
  }

  private final PolledCandidate.Career career = new PolledCandidate.Career();
  private final Leadership now = new Leadership();

  private CandidateView view() {
    return career.view(now);
  }

  @Test
  void itLeadsFromItsInaugurationOn() {
    assertThat(career.view(null)).isEqualTo(NOTHING);
    assertThat(view()).isEqualTo(NOTHING);
    career.inaugurate(now);
    assertThat(view()).isEqualTo(new CandidateView(true, 7L, false));
  }

  @Test
  void whoHandsOverDoesNotLeadForSureAndKeepsItsTermUntilItHas() {
    career.inaugurate(now);
    now.resign();
    assertThat(view()).isEqualTo(HANDS_OVER);
    career.handOver(now);
    assertThat(view()).isEqualTo(HANDS_OVER);
    now.cutOff = true;
    assertThat(view()).isEqualTo(HANDS_OVER);
    career.handedOver(7);
    assertThat(view()).isEqualTo(NOTHING);
  }

  @Test
  void whoIsCutOffDoesNotLeadForSure() {
    career.inaugurate(now);
    now.cutOff = true;
    assertThat(view()).isEqualTo(NOTHING);
    now.cutOff = false;
    assertThat(view()).isEqualTo(new CandidateView(true, 7L, false));
    now.over = true;
    assertThat(view()).isEqualTo(NOTHING);
  }
}
