import type { AuthenticationCreds, SignalDataSet, SignalKeyStore } from "@whiskeysockets/baileys";
import { userOf } from "../jids.ts";

const LID_DOMAIN = "_1";

/** Names under which our own sender key of a group may stand: by number and by LID, as its members are named. */
function ownNames(group: string, { me }: Pick<AuthenticationCreds, "me">): string[] {
  return [me?.id, me?.lid].flatMap((jid) => {
    if (!jid) return [];
    const [name = "", server = ""] = jid.split("@");
    const user = `${userOf(jid)}${server.endsWith("lid") ? LID_DOMAIN : ""}`;
    return [`${group}::${user}::${name.split(":")[1] ?? "0"}`];
  });
}

/**
 * A change of keys in which our sender key goes with the note of who has it: whoever has left since could read on, if the same key were
 * given to those who are still there. Baileys forgets the note when somebody asks for a message again, and keeps the key.
 */
export function keysGoWithHolders(
  data: SignalDataSet,
  creds: Pick<AuthenticationCreds, "me">,
): SignalDataSet {
  const forgotten = Object.entries(data["sender-key-memory"] ?? {}).filter(([, holders]) => holders === null);
  if (forgotten.length === 0) return data;
  const names = forgotten.flatMap(([group]) => ownNames(group, creds));
  const gone = Object.fromEntries(names.map((name) => [name, null]));
  return { ...data, "sender-key": { ...data["sender-key"], ...gone } };
}

/**
 * Who has our sender key of a group, by the addresses of devices, as far as the key can be used on.
 *
 * @returns null when there is a note without a key, or a key without a note: neither can be relied on
 */
export async function holdersOfOurs(
  keys: Pick<SignalKeyStore, "get">,
  group: string,
  creds: Pick<AuthenticationCreds, "me">,
): Promise<Record<string, boolean> | null> {
  const names = ownNames(group, creds);
  const [notes, ours] = await Promise.all([
    keys.get("sender-key-memory", [group]),
    keys.get("sender-key", names),
  ]);
  const isThere = names.some((name) => ours[name] !== undefined && ours[name] !== null);
  const holders = notes[group] ?? {};
  return isThere === Object.keys(holders).length > 0 ? holders : null;
}
