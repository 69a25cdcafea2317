/** What a run has done, for whoever wants to know that it has done something. */
export type RatchetTally = Record<
  | "met"
  | "sent"
  | "read"
  | "late"
  | "refusedByBoth"
  | "refusedFlood"
  | "readByLibsignalAlone"
  | "lost"
  | "flooded"
  | "forged"
  | "crafted"
  | "lowOrder"
  | "previousCounters"
  | "foreignVersions"
  | "repeated"
  | "diedBeforeCommit"
  | "diedAfterCommit"
  | "standOnUncommitted",
  number
>;

/** Nothing has been done yet. */
export const noTally = (): RatchetTally => ({
  met: 0,
  sent: 0,
  read: 0,
  late: 0,
  refusedByBoth: 0,
  refusedFlood: 0,
  readByLibsignalAlone: 0,
  lost: 0,
  flooded: 0,
  forged: 0,
  crafted: 0,
  lowOrder: 0,
  previousCounters: 0,
  foreignVersions: 0,
  repeated: 0,
  diedBeforeCommit: 0,
  diedAfterCommit: 0,
  standOnUncommitted: 0,
});
