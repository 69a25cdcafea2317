import { createConversations, type Conversations } from "../../../src/conversations/index.ts";
import type { MessageFilter } from "../../../src/conversations/messages.ts";
import type { Contents } from "../../../src/conversations/records.ts";
import { contentOpener } from "../../../src/inbox/reader.ts";
import { factsOf } from "../../../src/media/files.ts";
import { draftOpener, replyId } from "../../../src/outbox/rows.ts";
import type { Store } from "../../../src/store/store.ts";
import { deliveryId } from "../../../src/webhooks/rows.ts";
import { DEVICE, OWN_NUMBER } from "../outbox/harness.ts";

export const OWN = [{ id: DEVICE, number: OWN_NUMBER }];
export const ALL: MessageFilter = { devices: OWN, limit: 50, allowed: null };

/** The lists on a store, with the addresses of files, the names of groups and what else is the test's own. */
export function conversationsOn(
  store: Store,
  groups: [id: string, name: string][] = [],
  more: Pick<Contents, "readAgain"> = {},
): Conversations {
  const ids = {
    replyId: (...reply: [number, number, number]) => replyId(store.box, ...reply),
    deliveryId: (...event: [number, number]) => deliveryId(store.box, ...event),
  };
  const contents = {
    openIncoming: contentOpener(store.box),
    openDraft: draftOpener(store.box),
    link: ({ inboxId }: { inboxId: number }) => ({ url: `https://gateway/media/${inboxId}` }),
    sentLink: ({ waId }: { waId: string }) => `https://gateway/media/sent/${waId}`,
    replyId: (deviceId: number, inboxId: number) => replyId(store.box, deviceId, inboxId, 0),
    fileFacts: (ids: string[]) => factsOf(store, ids),
    names: async () => new Map(groups),
    ...more,
  };
  return createConversations(store, contents, ids);
}

/** The pair of a person who is known by both. */
export const pair = (lid: string, number: string) => ({
  sql: "INSERT INTO lid_map (device_id, lid_user, pn_user, seen_at) VALUES (?, ?, ?, 0)",
  args: [DEVICE, lid, number],
});
