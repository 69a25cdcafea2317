import type { OwnIds } from "../addresses.ts";
import { isLid, userOf, withoutDevice } from "../jids.ts";
import type { AuthState } from "../signal/auth-state.ts";
import type { DeviceMemory } from "../connection/device-memory.ts";
import { forgetDevices } from "../devices/participants.ts";

interface NewIdentitiesDeps {
  auth: Pick<AuthState, "keys">;
  memory: Pick<DeviceMemory, "userDevices" | "dropped" | "newIdentities">;
  own(): OwnIds;
}

/**
 * Somebody's phone has new keys (`notification type=encrypt > identity`): devices and keys are asked for before the next message. The session
 * stays: what was written before is still to be read, and the first message of the new phone brings a session of its own. Baileys opens one by
 * itself, but not for what has waited while the number was away.
 *
 * @param jids both addresses, as far as they are named
 * @returns resolves when both are known
 */
export async function noteNewIdentity(
  { auth, memory, own }: NewIdentitiesDeps,
  jids: (string | undefined)[],
): Promise<void> {
  const [one = "", other = ""] = jids.map(withoutDevice);
  const { pn, lid } = own();
  if (one === "" || one === pn || one === lid) return;
  note(memory, [one, other]);
  const key = isLid(one) ? `${userOf(one)}_reverse` : userOf(one);
  const alias = (await auth.keys.get("lid-mapping", [key]))[key];
  // The server of an address says nothing here.
  if (alias !== undefined) note(memory, [`${alias}@lid`]);
}

function note(memory: NewIdentitiesDeps["memory"], jids: string[]): void {
  forgetDevices(memory, jids);
  for (const jid of jids) if (jid !== "") memory.newIdentities.set(userOf(jid), true);
}
