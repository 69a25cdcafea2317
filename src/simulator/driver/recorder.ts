import type { PhoneRecorder } from "../people/events.ts";
import type { MessageBody } from "../surface/content.ts";
import type { Transcript } from "../transcript.ts";
import type { World } from "../world/world.ts";

interface Needs {
  world: World;
  transcript: Transcript;
  violations: { report(rule: string, who: string, detail: string): void };
  changed(): void;
}

/** Records what simulated people have read, could not read, and sent. */
export function createRecorder({ world, transcript, violations, changed }: Needs): PhoneRecorder {
  const numberOf = (jid: string): string => world.find(jid)?.number ?? jid;
  return {
    onDecrypted(event) {
      const { device, id, at, encType, tries, from, chat, repeated } = event;
      const where = { number: device.user, device: device.device, from: numberOf(from), id };
      const arrival = { at, encType, tries, chat: numberOf(chat), repeated };
      transcript.decrypted(where, arrival, bodyOf(event));
      changed();
    },
    onUndecryptable(event) {
      const { device, id, reason, tries, gaveUp } = event;
      const where = { number: device.user, device: device.device, from: numberOf(event.from), id };
      transcript.undecryptable(where, reason);
      const detail = `message ${id} from ${where.from}: ${reason}, try ${tries}${gaveUp ? ", given up" : ""}`;
      violations.report("undecryptable", `${device.user}:${device.device}`, detail);
      changed();
    },
    onSent(event) {
      transcript.summarize(event.device.user, event.id, bodyOf(event));
    },
    onAck() {},
    onReceipt() {},
    onViolation({ rule, who, detail }) {
      violations.report(rule, who, detail);
    },
  };
}

/** The message itself, without the facts about its delivery. */
function bodyOf(body: MessageBody): MessageBody {
  const { kind, text, media, poll, choices, location, contacts, target, mentions, quoted } = body;
  const { forwarded, viewOnce, expiration, expirationSince } = body;
  const said = { kind, text, media, poll, choices, location, contacts, target, mentions, quoted };
  const told = { ...said, forwarded, viewOnce, expiration, expirationSince };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) as never;
}
