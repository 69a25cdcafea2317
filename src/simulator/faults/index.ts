import type { SimulatorFaults } from "../surface/faults.ts";
import { acks } from "./acks.ts";
import { badTimes } from "./bad-times.ts";
import { clock } from "./clock.ts";
import { close } from "./close.ts";
import { deliveries } from "./deliveries.ts";
import { dropAtReceipt } from "./drop-at-receipt.ts";
import { duplicates } from "./duplicates.ts";
import { edges } from "./edges.ts";
import { errorAck } from "./error-ack.ts";
import type { FaultNeeds } from "./fault.ts";
import { frames } from "./frames.ts";
import { halfOpen } from "./half-open.ts";
import { linkingCode } from "./linking-code.ts";
import { media } from "./media.ts";
import { newChatQuota } from "./new-chat-quota.ts";
import { offline } from "./offline.ts";
import { order } from "./order.ts";
import { placeholders } from "./placeholders.ts";
import { rateOverlimit } from "./rate-overlimit.ts";
import { reachoutTimelock } from "./reachout-timelock.ts";
import { resends } from "./resends.ts";
import { socket } from "./socket.ts";
import { streamError } from "./stream-error.ts";
import { unanswered } from "./unanswered.ts";
import { upgrade } from "./upgrade.ts";
import { versions } from "./versions.ts";

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
