import type { Schedule } from "./schedule.ts";

/** Messages of one number that may be without an outcome at once. */
const MOST = 16;
/** Of these, messages that answer nobody: the others are left for replies. */
const MOST_UNASKED = 8;
/** Replies while something that answers nobody waits: replies without end must not starve it. */
const MOST_REPLIES_BESIDE = MOST - 1;
/** After this a message gives its place to others and goes on waiting for its own outcome. */
const SLOW_MS = 2_000;
/** What waits beside the places, over which a line that acknowledges nothing is not fed any further. */
const MOST_SLOW = 240;

/** The places of one number's sender: a destination that does not answer must not keep the others waiting. */
export interface Places {
  /** Messages without an outcome, slow ones too. */
  readonly underWay: number;
  hasRoom(): boolean;
  mayReply(unaskedWaits: boolean): boolean;
  mayGoUnasked(): boolean;
  /**
   * @param freed called when the message has become slow and another may leave
   * @returns gives the place back, when the outcome is known
   */
  take(unasked: boolean, freed: () => void): () => void;
}

export function createPlaces(schedule: Schedule): Places {
  const taken = { replies: 0, unasked: 0, slow: 0 };

  return {
    get underWay() {
      return taken.replies + taken.unasked + taken.slow;
    },
    hasRoom: () => taken.replies + taken.unasked < MOST,
    mayReply: (unaskedWaits) => !unaskedWaits || taken.replies < MOST_REPLIES_BESIDE,
    mayGoUnasked: () => taken.unasked < MOST_UNASKED,
    take(unasked, freed) {
      let held: keyof typeof taken = unasked ? "unasked" : "replies";
      taken[held]++;
      const cancel = schedule(SLOW_MS, () => {
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
