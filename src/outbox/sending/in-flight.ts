import type { Time } from "../../model/time.ts";

/** Messages of one number that may be without an outcome at once. */
const MOST = 16;
/** Of these, proactive ones (they answer nobody): the rest is left for replies. */
const MOST_PROACTIVE = 8;
/** Replies while something proactive waits: replies without end must not starve it. */
const MOST_REPLIES_BESIDE = MOST - 1;
/** After this a message gives its slot to others and goes on waiting for its own outcome. */
const SLOW_MS = 2_000;
/** Slow messages of one number; with so many, a connection that acknowledges nothing is given no more. */
const MOST_SLOW = 240;

/** Limits what one number has in flight: a destination that does not answer must not keep the others waiting. */
export interface InFlightSlots {
  /** Messages without an outcome, slow ones too. */
  readonly inFlight: number;
  hasRoom(): boolean;
  mayReply(proactiveWaits: boolean): boolean;
  mayGoProactive(): boolean;
  /**
   * @param freed called when the message has become slow and another may leave
   * @returns gives the slot back; called when the outcome is known
   */
  take(proactive: boolean, freed: () => void): () => void;
}

/** Slots of one number, all of them free. */
export function createInFlightSlots(time: Pick<Time, "after">): InFlightSlots {
  const taken = { replies: 0, proactive: 0, slow: 0 };

  return {
    get inFlight() {
      return taken.replies + taken.proactive + taken.slow;
    },
    hasRoom: () => taken.replies + taken.proactive < MOST,
    mayReply: (proactiveWaits) => !proactiveWaits || taken.replies < MOST_REPLIES_BESIDE,
    mayGoProactive: () => taken.proactive < MOST_PROACTIVE,
    take(proactive, freed) {
      let held: keyof typeof taken = proactive ? "proactive" : "replies";
      taken[held]++;
      const cancel = time.after(SLOW_MS, () => {
        if (taken.slow >= MOST_SLOW) return;
        taken[held]--;
        held = "slow";
        taken.slow++;
        freed();
      });
      return () => {
        cancel();
        taken[held]--;
      };
    },
  };
}
