import type { Logger } from "../../log.ts";
import { defineQuestion, type Cluster } from "../../model/nodes/cluster.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import { DAY_MS, SECOND_MS } from "../../model/time.ts";
import type { Store } from "../../store/store.ts";
import { NotBlockable, type WhatsAppConnection } from "../../whatsapp/port.ts";
import { createOneByOne } from "../ask-one.ts";
import { connected } from "../connected.ts";
import type { ContactList } from "./list.ts";
import type { ContactNotes } from "./notes.ts";
import { sealed, type KnownDetails } from "./record.ts";

/** What WhatsApp is asked about people, and told. */
export interface ContactQuestions {
  /**
   * What WhatsApp shows of somebody, asked at most once a day.
   *
   * @param keys all addresses of the person, the canonical one first
   * @returns what is stored when WhatsApp cannot be asked now; null when nothing is
   */
  details(deviceId: number, keys: readonly string[]): Promise<KnownDetails | null>;
  /** @throws UNAVAILABLE while the number is not connected; NOT_ON_WHATSAPP, WHATSAPP_REFUSED */
  block(deviceId: number, asked: { person: string; blocked: boolean }): Promise<null>;
}

interface QuestionsDeps {
  store: Pick<Store, "writer" | "now" | "time" | "box">;
  log: Logger;
  cluster: Cluster;
  list: ContactList;
  notes: ContactNotes;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "contactDetails" | "setBlocked"> | null;
}

const KEPT_MS = DAY_MS;
const DETAILS = defineQuestion<readonly string[], KnownDetails | null>(
  "directory.contact-details",
  20 * SECOND_MS,
);
const BLOCK = defineQuestion<{ person: string; blocked: boolean }, null>("directory.block", 20 * SECOND_MS);
const KEEP = `INSERT INTO contacts (device_id, person, details, asked_at, created_at, seen_at)
SELECT ?1, ?2, ?3, ?4, ?4, ?4 WHERE EXISTS (SELECT 1 FROM devices WHERE id = ?1)
ON CONFLICT (device_id, person) DO UPDATE SET details = excluded.details, asked_at = excluded.asked_at`;

/** Whichever node is asked, the number's own one asks WhatsApp. */
export function createContactQuestions(deps: QuestionsDeps): ContactQuestions {
  const { store, log, list, notes, connection } = deps;
  const { bus } = deps.cluster;
  const oneByOne = createOneByOne<KnownDetails>(store.time, () => true);

  async function ask(deviceId: number, keys: readonly string[]): Promise<KnownDetails | null> {
    const [person] = keys;
    // A person whose LID is known is asked about by it, as phones do.
    const jid = keys.find((key) => key.endsWith("@lid")) ?? person!;
    const line = connection(deviceId);
    if (line === null) return null;
    const answer = await oneByOne.ask(deviceId, person!, async () => {
      const details = await line.contactDetails(jid);
      const { verifiedName, business } = details;
      const now = store.now();
      const args = [deviceId, person!, sealed(store.box, deviceId, person!, details), now];
      await store.writer.commit([{ sql: KEEP, args }], { owning: null });
      notes.met(deviceId, [
        { person: person!, names: { isBusiness: business !== null, ...(verifiedName && { verifiedName }) } },
      ]);
      return { ...details, askedAt: now };
    });
    return answer?.value ?? null;
  }

  bus.answer(DETAILS, async (deviceId, keys) => {
    const stored = (await list.find(deviceId, keys))?.details ?? null;
    if (stored !== null && Math.abs(store.now() - stored.askedAt) < KEPT_MS) return stored;
    const fresh = await ask(deviceId, keys).catch((err: unknown) => {
      log.warn({ err, device: deviceId }, "WhatsApp did not say what it shows of a contact");
      return null;
    });
    return fresh ?? stored;
  });

  bus.answer(BLOCK, async (deviceId, { person, blocked }) => {
    try {
      await connected(connection(deviceId)).setBlocked(person, blocked);
      return null;
    } catch (error) {
      throw error instanceof GatewayError ? error : refused(error);
    }
  });

  return {
    details: (deviceId, keys) => bus.ask(DETAILS, deviceId, keys),
    block: (deviceId, asked) => bus.ask(BLOCK, deviceId, asked),
  };
}

function refused(error: unknown): GatewayError {
  if (error instanceof NotBlockable)
    return new GatewayError(
      "NOT_ON_WHATSAPP",
      "WhatsApp blocks people by number and LID, and does not tell one of them.",
    );
  const { data } = error as { data?: unknown };
  return new GatewayError("WHATSAPP_REFUSED", "WhatsApp did not take the change.", {
    ...(typeof data === "number" && { extra: { whatsapp_code: data } }),
  });
}
