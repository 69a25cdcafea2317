import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { OwnIds, StanzaAttributes } from "../addresses.ts";
import { isGroup, withoutDevice } from "../jids.ts";
import { isForBaileys } from "../../model/mixed-ways.ts";
import type { TakeEveryday } from "../everyday/receive.ts";
import { createLocks } from "../signal/lock.ts";

/** Chats of one number whose messages are handled side by side: their commits become one. */
const MOST_CHATS = 32;
/** Messages that are begun in one turn of the event loop; Baileys itself begins ten of a queue that waited. */
const BEGUN_AT_ONCE = 10;

type Socket = Pick<WASocket, "ws" | "messageMutex">;

/** Baileys' own handler of message stanzas; resolves when it is done with the stanza. */
type Handle = (node: BinaryNode) => Promise<void>;

/** What is told of handled messages, and whose they are. */
interface ChatTurnsDeps {
  own(): OwnIds;
  /** Takes what it can handle; false leaves a stanza to Baileys. Default: nothing is taken. */
  everyday?: TakeEveryday | undefined;
  /** Called when Baileys is done with a stanza, while the connection is open. Never throws. */
  onHandled(node: BinaryNode): Promise<void>;
}

/** Messages of one connection that wait or are handled. */
export interface ChatTurns {
  /** Resolves when everything that has come so far is stored, or dropped because the connection is gone. */
  idle(): Promise<void>;
}

/**
 * Takes message stanzas from Baileys' hands and gives them back in turn: those of one chat one after another, chats side by
 * side. Baileys handles what waited at the server strictly in a row, so that each message waits for the commits of all
 * chats; and everything else at once, so that the second message of a new contact overtakes the first, whose address is
 * still being stored, and a new message the queue that is being worked off.
 *
 * Call it on a new socket, before anybody else listens.
 */
export function takeTurnsByChat(socket: Socket, deps: ChatTurnsDeps): ChatTurns {
  const { ws } = socket;
  const handle = baileysHandler(socket);
  const inOrder = createLocks();
  const place = createPlaces();
  const inFlight = new Set<Promise<void>>();

  async function take(node: BinaryNode): Promise<void> {
    // What is left when the connection ends comes again on the next one.
    if (!ws.isOpen) return;
    if (deps.everyday !== undefined && !isForBaileys() && (await deps.everyday(node))) return;
    // The rest of Parley has noted the attributes as they came; with this one Baileys would queue it again.
    const { offline: _waited, ...attrs } = node.attrs;
    node.attrs = attrs;
    await handle(node);
    if (ws.isOpen) await deps.onHandled(node);
  }

  ws.on("CB:message", (node: BinaryNode) => {
    const done = inOrder(chatsOf(node.attrs, deps.own()), () => place(() => take(node)))
      // Baileys has logged it, and an answer to WhatsApp was tried: the next of the chat has its turn.
      .catch(() => undefined)
      .finally(() => inFlight.delete(done));
    inFlight.add(done);
  });

  return {
    async idle() {
      await Promise.all(inFlight);
    },
  };
}

/** @throws when Baileys is not the release that this was written for */
function baileysHandler({ ws, messageMutex }: Socket): Handle {
  const [handle, ...others] = ws.listeners("CB:message");
  if (handle === undefined || others.length > 0)
    throw new Error("Baileys handles messages differently from the pinned release. Run npm ci again.");
  ws.off("CB:message", handle as Handle);
  // It would make all chats wait for one another again.
  messageMutex.mutex = async (work) => work();
  return handle as Handle;
}

/** Everything that the chat of a stanza may be called; what shares one name stays in order. */
export function chatsOf(attributes: StanzaAttributes, own: OwnIds): string[] {
  const chat = withoutDevice(attributes.recipient) || withoutDevice(attributes.from);
  if (isGroup(chat)) return [chat];
  const others = attributes.recipient
    ? [
        attributes.peer_recipient_pn,
        attributes.peer_recipient_lid,
        attributes.recipient_pn,
        attributes.recipient_lid,
      ]
    : [attributes.sender_pn, attributes.sender_lid, attributes.participant_pn, attributes.participant_lid];
  const names = [chat, ...others.map(withoutDevice).filter((name) => name !== "")];
  return [...new Set(names.map((name) => (name === own.lid ? own.pn : name)))];
}

/** Runs so many at once, and begins so many in one turn of the event loop; the others wait in their order. */
function createPlaces(): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  let begun = 0;

  function begin(): void {
    while (waiting.length > 0 && running < MOST_CHATS && begun < BEGUN_AT_ONCE) {
      if (begun === 0) setImmediate(nextTurn);
      begun++;
      running++;
      waiting.shift()!();
    }
  }

  function nextTurn(): void {
    begun = 0;
    begin();
  }

  return async (work) => {
    const place = new Promise<void>((resolve) => waiting.push(resolve));
    begin();
    await place;
    try {
      return await work();
    } finally {
      running--;
      begin();
    }
  };
}
