import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { nothingSaid, type Incoming } from "../../model/messages.ts";
import { StorageUnavailable } from "../../store/errors.ts";
import { personOf, type OwnIds } from "../addresses.ts";
import { isGroup, isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { childOf, childrenOf } from "../nodes.ts";
import { createLocks } from "../signal/lock.ts";
import { secondsIn } from "../stanza-numbers.ts";
import { createLru } from "../../model/lru.ts";

/** Calls that were rejected, or that are over, as long as anything may still come of them. */
const REMEMBERED_CALLS = 500;
const OFFERS = new Set(["offer", "offer_notice"]);
/** Somebody has taken it, or nobody will any more. */
const ENDS = new Set(["accept", "reject", "terminate"]);

/** What handling calls needs of its connection. */
interface CallsDeps {
  own(): OwnIds;
  /** Numbers of LID users, as far as they are stored. */
  numbersOfLids(lidUsers: string[]): Promise<Map<string, string>>;
  /** The number's owner wants calls to be rejected. */
  rejects(): boolean;
  /** Stores what came; a call that is told of twice is stored once. */
  store(messages: Incoming[]): Promise<void>;
  /** It could not be stored. @param mayComeAgain it is not acknowledged, and the connection must end */
  onFailed(error: unknown, mayComeAgain: boolean): void;
}

/** A call that begins. */
interface Offer {
  id: string;
  /** Without a device. */
  caller: string;
  /** `…@g.us` of a call to a group, else null. */
  group: string | null;
  video: boolean;
  /** It waited at WhatsApp: nobody can take it any more. */
  waited: boolean;
}

/**
 * Handles calls in place of Baileys, which acknowledges them before they are stored. A call is told of once, and acknowledged
 * when that is stored; what else is said of it is acknowledged at once.
 *
 * A number that rejects calls does so when they come, before anything is stored: the phone must not ring for as long as a disk
 * takes. One that somebody has taken meanwhile, or that waited, is left alone.
 *
 * Source of the stanzas: whatsmeow `call.go`, whatsapp-rust `wacore/src/stanza/call.rs`.
 */
export function takeCalls(
  socket: Pick<WASocket, "ws" | "sendNode" | "generateMessageTag">,
  deps: CallsDeps,
): void {
  const over = createLru<string, true>(REMEMBERED_CALLS);
  const rejected = createLru<string, true>(REMEMBERED_CALLS);
  const inOrder = createLocks();

  const acknowledge = (node: BinaryNode): Promise<void> =>
    // On a connection that is gone it comes again.
    socket.sendNode(acknowledgement(node)).catch(() => undefined);

  async function reject({ id, caller, waited }: Offer): Promise<void> {
    if (waited || over.has(id) || rejected.has(id) || !deps.rejects()) return;
    const stanza = rejection(id, caller, deps.own(), socket.generateMessageTag());
    await socket.sendNode(stanza).then(
      () => rejected.set(id, true),
      () => undefined,
    );
  }

  async function told(node: BinaryNode, offer: Offer): Promise<Incoming> {
    const { caller } = offer;
    const numbers = isLid(caller) ? await deps.numbersOfLids([userOf(caller)]) : null;
    const { attrs } = childrenOf(node)[0]!;
    const other = { pn: attrs.caller_pn, lid: withoutDevice(attrs.caller_lid) || undefined };
    const who = personOf(caller, other, (lidUser) => numbers?.get(lidUser) ?? null);
    return callOf(node, offer, who, rejected.has(offer.id));
  }

  async function begin(node: BinaryNode, offer: Offer): Promise<void> {
    await reject(offer);
    try {
      await deps.store([await told(node, offer)]);
    } catch (error) {
      const mayComeAgain = error instanceof StorageUnavailable;
      deps.onFailed(error, mayComeAgain);
      if (mayComeAgain) return;
    }
    await acknowledge(node);
  }

  function take(node: BinaryNode): void {
    const [step] = childrenOf(node);
    const offer = offerIn(node, deps.own());
    if (offer !== null) return void inOrder([offer.caller], () => begin(node, offer));
    if (step !== undefined && ENDS.has(step.tag)) over.set(step.attrs["call-id"] ?? "", true);
    void acknowledge(node);
  }

  const [baileysOwn, ...others] = socket.ws.listeners("CB:call");
  if (baileysOwn === undefined || others.length > 0)
    throw new Error("Baileys handles calls differently from the pinned release. Run npm ci again.");
  socket.ws.off("CB:call", baileysOwn as (node: BinaryNode) => void);
  socket.ws.on("CB:call", take);
}

/** Null when no call begins with it, or one of the number's own. */
function offerIn(node: BinaryNode, own: OwnIds): Offer | null {
  const [step] = childrenOf(node);
  if (step === undefined || !OFFERS.has(step.tag)) return null;
  const { "call-id": id, "call-creator": creator, "group-jid": group = "", media } = step.attrs;
  const caller = withoutDevice(creator ?? node.attrs.from);
  if (!id || caller === own.pn || caller === own.lid || !(isPn(caller) || isLid(caller))) return null;
  const video = media === "video" || childOf(step, "video") !== undefined;
  return {
    id,
    caller,
    group: isGroup(group) ? group : null,
    video,
    waited: node.attrs.offline !== undefined,
  };
}

function acknowledgement({ attrs: { id, from, participant, recipient, type } }: BinaryNode): BinaryNode {
  const beside = Object.entries({ participant, recipient, type }).filter(([, value]) => value);
  const attrs: Record<string, string> = { id: id ?? "", to: from ?? "", class: "call" };
  return { tag: "ack", attrs: { ...attrs, ...(Object.fromEntries(beside) as Record<string, string>) } };
}

function rejection(id: string, caller: string, own: OwnIds, stanzaId: string): BinaryNode {
  const reject = { tag: "reject", attrs: { "call-id": id, "call-creator": caller, count: "0" } };
  return { tag: "call", attrs: { id: stanzaId, from: own.pn, to: caller }, content: [reject] };
}

function callOf(
  { attrs }: BinaryNode,
  { id, caller, group, video, waited }: Offer,
  { canonical, number, lid }: ReturnType<typeof personOf>,
  rejected: boolean,
): Incoming {
  return {
    ...nothingSaid(),
    id,
    chat: group ?? caller,
    chatKey: group ?? canonical,
    chatKind: group === null ? "dm" : "group",
    sender: canonical,
    number,
    lid,
    participant: group === null ? null : caller,
    fromMe: false,
    pushName: attrs.notify ?? "",
    timestamp: secondsIn(attrs.t),
    ...(waited && { waited: true as const }),
    type: "call",
    call: { video, rejected },
  };
}
