import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import { personOf, type OwnIds } from "../addresses.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { childrenOf } from "../nodes.ts";
import { secondsIn } from "../stanza-numbers.ts";

interface CallsDeps {
  own(): OwnIds;
  /** Numbers of LID users, as far as they are stored. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** Stores what came; a call that is told of twice is stored once. */
  store(messages: Incoming[]): Promise<void>;
  onFailed(error: unknown): void;
}

/** Tells of calls that come in. Baileys acknowledges their stanzas; nobody answers them here, and the phone goes on ringing. */
export function listenToCalls(socket: WASocket, deps: CallsDeps): void {
  async function tell(node: BinaryNode): Promise<void> {
    const offer = childrenOf(node).find(({ tag }) => tag === "offer" || tag === "offer_notice");
    const caller = withoutDevice(offer?.attrs["call-creator"] ?? node.attrs.from);
    const id = offer?.attrs["call-id"];
    const own = deps.own();
    const isOwn = caller === own.pn || caller === own.lid;
    if (offer === undefined || !id || isOwn || (!isPn(caller) && !isLid(caller))) return;
    const numbers = isLid(caller) ? await deps.numbersOfLids([userOf(caller)]) : null;
    const other = { pn: offer.attrs.caller_pn, lid: offer.attrs.caller_lid };
    const who = personOf(caller, other, (lidUser) => numbers?.get(lidUser) ?? null);
    await deps.store([callOf(node, id, caller, who)]);
  }
  socket.ws.prependListener("CB:call", (node: BinaryNode) => void tell(node).catch(deps.onFailed));
}

function callOf(
  { attrs }: BinaryNode,
  id: string,
  chat: string,
  { canonical, number, lid }: ReturnType<typeof personOf>,
): Incoming {
  return {
    id,
    chat,
    chatKey: canonical,
    chatKind: "dm",
    sender: canonical,
    number,
    lid,
    participant: null,
    fromMe: false,
    pushName: attrs.notify ?? "",
    timestamp: secondsIn(attrs.t),
    ...(attrs.offline !== undefined && { waited: true as const }),
    type: "call",
    text: "",
    quoted: null,
    mentions: [],
    location: null,
    contacts: null,
    reaction: null,
    targetId: null,
    raw: "",
  };
}
