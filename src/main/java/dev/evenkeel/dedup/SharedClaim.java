package dev.evenkeel.dedup;

/** A claim that other processes see: it carries how long it may stay the head. */
public final class SharedClaim extends Claim {
  final long headMillisMax;

  /**
   * @param headMillisMax after so long at work it is evicted
   */
  public SharedClaim(Worker worker, long token, long headMillisMax) {
    this(worker, token, headMillisMax, 0);
  }

  SharedClaim(Worker worker, long token, long headMillisMax, long sinceMillis) {
    super(worker, token, sinceMillis);
    this.headMillisMax = headMillisMax;
  }
}
