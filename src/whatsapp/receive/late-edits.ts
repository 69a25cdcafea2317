import { StorageUnavailable } from "../../store/errors.ts";
import type { Store } from "../../store/store.ts";
import { baileys } from "../baileys.ts";
import { createKnownPolls } from "../content/known-polls.ts";
import { createEditReader } from "../content/sealed-edits.ts";
import type { SealedSources } from "../content/sealed-sources.ts";
import { ownIdsOf } from "../identity.ts";
import type { WhatsApp } from "../port.ts";
import { readCreds } from "../signal/auth-state.ts";
import { readLidPairs } from "../signal/key-rows.ts";

/** @param sourcesOf the messages of a number */
export function createLateEdits(
  store: Store,
  sourcesOf: (deviceId: number) => Omit<SealedSources, "lidOfNumber">,
): WhatsApp["readAgain"] {
  return async (deviceId, edit) => {
    try {
      const own = ownIdsOf((await readCreds(store, deviceId)) ?? {});
      const sources = {
        ...sourcesOf(deviceId),
        async lidOfNumber(number: string) {
          const pairs = await readLidPairs(store, deviceId, [number]);
          return pairs.has(number) ? (JSON.parse(pairs.get(number)!.toString()) as string) : null;
        },
      };
      const findPoll = createKnownPolls(sources, () => own, store.box);
      const read = createEditReader(sources, () => own, store.box, findPoll);
      return await read(edit, baileys.proto.Message.decode(Buffer.from(edit.raw, "base64")));
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      return edit;
    }
  };
}
