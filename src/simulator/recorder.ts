import type { PhoneRecorder } from "./people/link.ts";
import type { MessageBody } from "./surface/content.ts";
import type { SimulatorServer } from "./server/server.ts";

/** Writes down what simulated people read, could not read, and sent. */
export function makeRecorder(server: () => SimulatorServer): PhoneRecorder {
  const numberOf = (jid: string): string => server().world.find(jid)?.number ?? jid;
  return {
    onDecrypted(event) {
      const { device, id, at, encType, tries, from, chat, repeated } = event;
      const where = { number: device.user, device: device.device, from: numberOf(from), id };
      const arrival = { at, encType, tries, chat: numberOf(chat), repeated };
      server().transcript.decrypted(where, arrival, bodyOf(event));
      server().changed();
    },
    onUndecryptable(event) {
      const { device, id, reason, tries, gaveUp } = event;
      const where = { number: device.user, device: device.device, from: numberOf(event.from), id };
      server().transcript.undecryptable(where, reason);
      const detail = `message ${id} from ${where.from}: ${reason}, try ${tries}${gaveUp ? ", given up" : ""}`;
      server().violations.report("undecryptable", `${device.user}:${device.device}`, detail);
      server().changed();
    },
    onSent(event) {
      server().transcript.summarize(event.device.user, event.id, bodyOf(event));
    },
    onAck() {},
    onReceipt() {},
    onViolation({ rule, who, detail }) {
      server().violations.report(rule, who, detail);
    },
  };
}

/** The message itself, without what is told of its way. */
function bodyOf(body: MessageBody): MessageBody {
  const { kind, text, media, poll, choices, location, contacts, target, mentions, quoted, expiration } = body;
  const told = { kind, text, media, poll, choices, location, contacts, target, mentions, quoted, expiration };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)) as never;
}
