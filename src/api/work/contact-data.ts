import { parseDestination } from "../../model/address.ts";
import { RawResult } from "../answers/envelope.ts";
import { notFound } from "../answers/unmatched.ts";
import type { App } from "../services.ts";
import { asStream } from "./files/media.ts";

type Params = Record<string, string>;

/** @throws NOT_FOUND when there is no such number of the account, or nobody can have such an address */
function find({ numbers }: Pick<App, "numbers">, { id = "", number = "", contact = "" }: Params) {
  const device = numbers.find(id, number.replace(/^\+/, ""));
  const person = parseDestination(contact);
  if (device === null || person === null || /@(?:g\.us|newsletter)$/.test(person.jid)) throw notFound();
  return { deviceId: device.id, jid: person.jid };
}

/** @throws NOT_FOUND */
export function exportContact(app: App, params: Params): RawResult {
  const { deviceId, jid } = find(app, params);
  return new RawResult(asStream(lines(app.contactData.read(deviceId, jid))), {
    "content-type": "application/x-ndjson",
  });
}

async function* lines(rows: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  for await (const row of rows) yield Buffer.from(`${JSON.stringify(row)}\n`);
}

/** @throws NOT_FOUND */
export async function eraseContact(app: App, params: Params) {
  const { deviceId, jid } = find(app, params);
  return { data: await app.contactData.erase(deviceId, jid) };
}
