import type { SimulatorFaults } from "../surface/faults.ts";
import { acks } from "./acks.ts";
import { badTimes } from "./bad-times.ts";
import { clock } from "./line/clock.ts";
import { close } from "./line/close.ts";
import { deliveries } from "./deliveries.ts";
import { dropAtReceipt } from "./drop-at-receipt.ts";
import { duplicates } from "./duplicates.ts";
import { edges } from "./line/edges.ts";
import { errorAck } from "./error-ack.ts";
import type { FaultNeeds } from "./fault.ts";
import { frames } from "./line/frames.ts";
import { halfOpen } from "./line/half-open.ts";
import { linkingCode } from "./linking-code.ts";
import { media } from "./media.ts";
import { newChatQuota } from "./new-chat-quota.ts";
import { offline } from "./offline.ts";
import { order } from "./order.ts";
import { placeholders } from "./placeholders.ts";
import { rateOverlimit } from "./rate-overlimit.ts";
import { reachoutTimelock } from "./reachout-timelock.ts";
import { resends } from "./resends.ts";
import { socket } from "./line/socket.ts";
import { streamError } from "./line/stream-error.ts";
import { unanswered } from "./unanswered.ts";
import { upgrade } from "./line/upgrade.ts";
import { versions } from "./line/versions.ts";

const faultKits = [
  acks,
  badTimes,
  clock,
  close,
  deliveries,
  dropAtReceipt,
  duplicates,
  edges,
  errorAck,
  frames,
  halfOpen,
  linkingCode,
  media,
  newChatQuota,
  offline,
  order,
  placeholders,
  rateOverlimit,
  reachoutTimelock,
  resends,
  socket,
  streamError,
  unanswered,
  upgrade,
  versions,
] as const;

/** All faults of one server, with `clear` to end those that are armed. */
export function createFaults(needs: FaultNeeds): SimulatorFaults {
  const kits = faultKits.map((kit) => kit(needs));
  const methods = Object.assign({}, ...kits.map((kit) => kit.methods)) as Omit<SimulatorFaults, "clear">;
  return {
    ...methods,
    async clear() {
      for (const kit of kits) kit.clear();
    },
  };
}
