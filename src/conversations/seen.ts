import type { Reading } from "../store/store.ts";
import { canonicalChats, keysOfChats } from "./same-chat.ts";
import { shownAddress } from "./shown.ts";

const placeOf = ({ deviceId, chat }: { deviceId: number; chat: string }): string => `${deviceId}:${chat}`;

/**
 * Those of a chat that may be seen.
 *
 * @param allowed by the names of a chat as they are shown, the canonical one first
 */
export async function chatsSeen<T extends { deviceId: number; chat: string }>(
  store: Pick<Reading, "read">,
  some: readonly T[],
  allowed: (names: string[]) => boolean,
): Promise<T[]> {
  const canonical = await canonicalChats(store, some);
  const chats = new Map(
    some.map((one) => {
      const chat = { deviceId: one.deviceId, chat: canonical(one) };
      return [placeOf(chat), chat];
    }),
  );
  const names = await keysOfChats(store, [...chats.values()]);
  const seen = new Set([...chats.keys()].filter((_, index) => allowed(names[index]!.map(shownAddress))));
  return some.filter((one) => seen.has(placeOf({ deviceId: one.deviceId, chat: canonical(one) })));
}
