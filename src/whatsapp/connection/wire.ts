import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Acks } from "../send/acks.ts";
import type { OwnIds } from "../addresses.ts";
import { readChannelChanges } from "../receive/channel-changes.ts";
import { pairsIn, readGroupChanges } from "../groups/group-changes.ts";
import { readGroupHappenings } from "../groups/group-happenings.ts";
import { renewOurKey } from "../send/group-message.ts";
import type { ConnectionListener, GroupChange } from "../port.ts";
import { withoutDevice } from "../jids.ts";
import { childOf, childrenOf } from "../nodes.ts";
import type { RetryRequests } from "../signal/session-keeping.ts";
import { SECOND_MS } from "../../model/time.ts";
import { countIn, dateUndated, secondsIn } from "../stanza-numbers.ts";
import type { Groups } from "../groups/socket-groups.ts";
import type { Stanzas } from "../receive/stanzas.ts";

/** Baileys uploads five when they run low; a busy number would be asked for more again at once. */
const PRE_KEYS_AT_A_TIME = 200;

const RATE_OVERLIMIT = "429";

/** Who is told of stanzas. */
interface WireDeps {
  stanzas: Stanzas;
  acks: Acks;
  retries: RetryRequests;
  groups: Groups;
  listener: Pick<ConnectionListener, "tell">;
  own(): OwnIds;
  /** Unix milliseconds. */
  now(): number;
  /** The same by WhatsApp's clock. */
  whatsAppNow(): number;
  /** Somebody's devices have changed; both addresses, as far as they are named. Without any: this number's own. */
  onDevicesChanged(jids: (string | undefined)[]): void;
  /** Somebody's phone has new keys; both addresses, as far as they are named. */
  onNewIdentity(jids: (string | undefined)[]): Promise<void>;
  /** WhatsApp has refused a question because of too many, and says for how long. */
  onAskedTooOften(ms: number): void;
  /** Groups have another timer. @param since Unix seconds */
  onGroupTimers(changes: GroupChange[], since: number): void;
  /** Somebody could not read a message of this number. */
  onRetryRequest(waId: string, jid: string): void;
}

/** Listens to the stanzas that Baileys has no event for, or one that comes too late or incomplete. Before Baileys does. */
export function listenToStanzas(socket: WASocket, deps: WireDeps): void {
  const on = (name: string, listener: (node: BinaryNode) => void): void =>
    void socket.ws.prependListener(name, listener);
  on("CB:message", (node) => {
    dateUndated(node, deps.whatsAppNow());
    deps.stanzas.note(node);
  });
  listenForLimits(on, deps);
  on("CB:ack,class:message", deps.acks.note);
  on("CB:receipt", (node) => {
    const { type, participant, from, id } = node.attrs;
    if (type === "retry") {
      deps.retries.note(participant ?? from ?? "");
      if (id) deps.onRetryRequest(id, withoutDevice(from));
      return;
    }
    deps.acks.note(node);
  });
  on("CB:notification,type:w:gp2", (node) => {
    const changes = readGroupChanges(node, deps.own());
    changes.forEach(deps.groups.change);
    deps.listener.tell({ type: "groups", changes });
    const happenings = readGroupHappenings(node, deps.own());
    if (happenings.length > 0) deps.listener.tell({ type: "groupHappenings", happenings });
    deps.onGroupTimers(changes, secondsIn(node.attrs.t));
    // Whoever had the number before could read on. Source: whatsapp-rust, which does as WhatsApp Web.
    for (const change of changes)
      if (change.kind === "members" && change.action === "modify") void renewOurKey(socket, change.id);
    // A pair that cannot be stored is told again.
    void socket.signalRepository.lidMapping.storeLIDPNMappings(pairsIn(node)).catch(() => undefined);
  });
  on("CB:notification,type:mex", (node) => {
    const changes = readChannelChanges(node, deps.own());
    if (changes.length > 0) deps.listener.tell({ type: "channels", changes });
  });
  on("CB:notification,type:devices", ({ attrs, content }) => {
    const changed = Array.isArray(content) ? content.flatMap((child) => childrenOf(child)) : [];
    deps.onDevicesChanged([
      attrs.from,
      attrs.lid,
      ...changed.flatMap((one) => [one.attrs.jid, one.attrs.lid]),
    ]);
  });
  on("CB:notification,type:account_sync", ({ content }) => {
    if (Array.isArray(content) && content.some(({ tag }) => tag === "devices")) deps.onDevicesChanged([]);
  });
  on("CB:ib,,dirty", (node) => {
    const [child] = Array.isArray(node.content) ? node.content : [];
    const type = child?.attrs.type;
    if (type === "groups" || type === "communities") deps.listener.tell({ type: "groups", changes: [] });
    if (type !== "newsletter_metadata") return;
    deps.listener.tell({ type: "channels", changes: [] });
    void socket.cleanDirtyBits(type as "groups").catch(() => undefined);
  });
  on("CB:notification,type:encrypt", (node) => {
    const [child] = Array.isArray(node.content) ? node.content : [];
    // Baileys' own upload finds this one under way and waits for it. A failure is tried again at the next notification.
    if (childOf(node, "identity"))
      void deps.onNewIdentity([node.attrs.from, node.attrs.lid]).catch(() => undefined);
    if (child?.tag === "count") void socket.uploadPreKeys(PRE_KEYS_AT_A_TIME).catch(() => undefined);
  });
}

/** The library's own error does not say for how long. Source: whatsapp-rust `src/request.rs` (`backoff`, in seconds). */
function listenForLimits(
  on: (name: string, listener: (node: BinaryNode) => void) => void,
  { onAskedTooOften }: Pick<WireDeps, "onAskedTooOften">,
): void {
  on("CB:iq,type:error", (node) => {
    const { code, backoff } = childOf(node, "error")?.attrs ?? {};
    const seconds = countIn(backoff);
    if (code === RATE_OVERLIMIT && seconds > 0) onAskedTooOften(seconds * SECOND_MS);
  });
}
