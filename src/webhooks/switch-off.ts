import type { Logger } from "../log.ts";
import type { Statement } from "../store/store.ts";
import type { Breaker } from "./attempts/breaker.ts";
import type { Attempt } from "./attempts/deliver.ts";
import type { DisabledReason } from "../model/webhook-words.ts";
import { namesOf, type Receiver } from "./receiver.ts";
import type { ReceiverAtHand } from "./receivers.ts";

interface SwitchOffDeps {
  receiver: Pick<ReceiverAtHand<Receiver>, "get" | "disabling">;
  breaker: Breaker;
  log: Logger;
  /** It was switched off; called after the commit. */
  onDisabled?: () => void;
}

/** Statements that end what waits, and what holds once they are committed. */
export interface SwitchedOff {
  statements: Statement[];
  committed(): void;
}

const WHY: Record<DisabledReason, string> = {
  gone: "the webhook answered 410 and is disabled; set it again to use it",
  failing: "the webhook has accepted nothing for five days and is disabled; set it again to use it",
};

/**
 * Counts an attempt for or against its endpoint.
 *
 * @returns null unless the endpoint is to be switched off
 */
export function switchOffAfter(
  { receiver, breaker, log, onDisabled }: SwitchOffDeps,
  asked: Receiver,
  attempt: Attempt,
  kind?: "probe",
): SwitchedOff | null {
  const now = receiver.get();
  // The owner may have set another address meanwhile: what the old one did says nothing of it.
  if (now === null || now.url !== asked.url || !now.enabled) return null;
  const goesOn = breaker.record(attempt, kind) === "goes on";
  if (goesOn && attempt.result !== "gone") return null;
  const reason = goesOn ? "gone" : "failing";
  const disabling = receiver.disabling(reason);
  return {
    statements: disabling.statements,
    committed() {
      disabling.committed();
      log.warn({ ...namesOf(asked), reason }, WHY[reason]);
      onDisabled?.();
    },
  };
}
