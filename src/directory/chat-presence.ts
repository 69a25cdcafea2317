import { defineQuestion, type Cluster } from "../model/nodes/cluster.ts";
import { SECOND_MS, type Cancel, type Time } from "../model/time.ts";
import type { ChatPresence, WhatsAppConnection } from "../whatsapp/port.ts";
import { connected } from "./connected.ts";

export type { ChatPresence } from "../whatsapp/port.ts";

/** What a chat is to show of its number. */
export interface ShownPresence {
  /** Address on the wire. */
  chat: string;
  state: ChatPresence;
  /** Then it shows nothing again. */
  seconds: number;
}

/** Shows in chats that somebody types or records. */
export interface ChatPresences {
  /** Nothing is stored, and nothing is shown later. @throws UNAVAILABLE while the number is not connected */
  show(deviceId: number, shown: ShownPresence): Promise<null>;
}

interface ChatPresencesDeps {
  time: Pick<Time, "after">;
  cluster: Cluster;
  /** Null unless the number is open. */
  connection: (deviceId: number) => Pick<WhatsAppConnection, "showState"> | null;
}

const SHOW = defineQuestion<ShownPresence, null>("directory.chat-presence", 8 * SECOND_MS);

/** Whichever node is asked, the number's own one shows it. */
export function createChatPresences({ time, cluster, connection }: ChatPresencesDeps): ChatPresences {
  /** By number and chat: how the end of what is shown is called off. */
  const endings = new Map<string, Cancel>();

  cluster.bus.answer(SHOW, async (deviceId, { chat, state, seconds }) => {
    await connected(connection(deviceId)).showState(chat, state);
    // Only now: of two at once the later one says when it ends.
    const place = `${deviceId} ${chat}`;
    endings.get(place)?.();
    endings.delete(place);
    if (state === "paused") return null;
    const cancel = time.after(seconds * SECOND_MS, () => {
      endings.delete(place);
      void connection(deviceId)
        ?.showState(chat, "paused")
        .catch(() => undefined);
    });
    endings.set(place, cancel);
    return null;
  });
  return { show: (deviceId, shown) => cluster.bus.ask(SHOW, deviceId, shown) };
}
