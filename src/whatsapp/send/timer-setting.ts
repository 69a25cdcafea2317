import { SECOND_MS } from "../../model/time.ts";
import { commitIntake, joinIntakes } from "../../store/write/intake.ts";
import type { Store } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import type { ChatTimer } from "../content/chat-timer.ts";
import type { Composed } from "../content/compose.ts";
import type { GroupChange, SendOutcome } from "../port.ts";
import type { ChatTimers } from "./chat-timers.ts";
import { sendMessage, type SendDeps } from "./send.ts";

interface TimerDeps {
  timers: ChatTimers;
  store: Pick<Store, "writer" | "now">;
}

/**
 * Tells the other side of a chat, and the number's own devices, after how long its messages disappear from now on. Groups are told by a
 * setting of the group.
 *
 * Source: whatsmeow `SetDisappearingTimer`.
 */
export async function setTimer(
  deps: SendDeps,
  { timers, store }: TimerDeps,
  { chat, names, seconds }: { chat: string; names: string[]; seconds: number },
): Promise<SendOutcome> {
  const timer = { seconds, since: Math.floor(store.now() / SECOND_MS) };
  const composer = { compose: async () => composed(timer) };
  const waId = baileys.generateMessageIDV2(deps.socket.user?.id);
  // As its stanza calls it: a text.
  const message = { waId, jid: chat, draft: { kind: "text" as const, text: "" } };
  const outcome = await sendMessage({ ...deps, composer }, message);
  if (outcome.kind === "sent")
    await commitIntake(store.writer, timers.set([...new Set([chat, ...names])], timer, waId));
  return outcome;
}

function composed({ seconds, since }: ChatTimer): Composed {
  const { ProtocolMessage } = baileys.proto.Message;
  const { Initiator } = baileys.proto.DisappearingMode;
  return {
    kind: "composed",
    message: {
      protocolMessage: {
        type: ProtocolMessage.Type.EPHEMERAL_SETTING,
        ephemeralExpiration: seconds,
        ephemeralSettingTimestamp: since,
        disappearingMode: { initiator: Initiator.CHANGED_IN_CHAT },
      },
    },
  };
}

/** What WhatsApp tells of the timers of groups. One that cannot be stored is not shown until it changes again. */
export async function noteGroupTimers(
  { writer }: Pick<Store, "writer">,
  timers: ChatTimers,
  changes: readonly GroupChange[],
  since: number,
): Promise<void> {
  const told = changes.flatMap((change) => {
    const seconds =
      change.kind === "ephemeral" ? change.seconds : change.kind === "group" ? change.group.ephemeral : null;
    return seconds === null ? [] : [timers.learned([change.id], { seconds, since: Math.max(1, since) })];
  });
  const intake = joinIntakes(...told);
  if (intake.statements.length > 0) await commitIntake(writer, intake).catch(() => undefined);
}
