import { children, element, type Attributes, type BinaryNode } from "../../wire/nodes.ts";
import { isGroupJid, isLidJid } from "../../world/jid.ts";
import { listedDevices, userJid, type Account, type Device } from "../../world/accounts.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import type { CallState } from "../../surface/calls.ts";
import type { Call, CallBook } from "./call-book.ts";
import type { Deliveries, Movement, Reports, Stamps, StanzaHandler } from "../ports.ts";

interface Needs extends Deliveries, Movement, Reports, Stamps {
  world: World;
  profiles: Pick<Profiles, "blocks">;
  calls: CallBook;
}

/** What a client says about a call. */
interface Step {
  by: Device;
  tag: string;
  attrs: BinaryNode["attrs"];
  content: BinaryNode[];
  to: string;
}

/** What follows when one of those who were called takes the call, or does not want it. */
const ANSWERS: Record<string, { state: CallState["state"]; elsewhere: string }> = {
  accept: { state: "accepted", elsewhere: "accepted_elsewhere" },
  reject: { state: "rejected", elsewhere: "rejected_elsewhere" },
};

/**
 * Handles `<call to><offer|accept|reject|terminate call-id call-creator/></call>` and acknowledges it. Companions of those who are
 * called hear of all of it, and again until they have acknowledged it; phones ring by themselves. Nothing is ever said on a line.
 *
 * Source: whatsmeow `call.go` (what a client gets, how it rejects); whatsapp-rust `wacore/src/stanza/call.rs` (reasons of `terminate`).
 */
export function createCalls(needs: Needs): StanzaHandler {
  const { violations } = needs;
  return (connection, node) => {
    const by = connection.device!;
    const [step] = children(node);
    const { to = "", id } = node.attrs;
    const isWhole = step?.attrs["call-id"] && step.attrs["call-creator"] && id;
    if (!step || !isWhole || !knowsStep(step.tag)) {
      violations.report("malformed_stanza", by.label, `call ${step?.tag ?? "without a step"}`);
      return;
    }
    connection.send(element("ack", { class: "call", id, from: to, type: step.tag }));
    const said = { by, tag: step.tag, attrs: step.attrs, content: children(step), to };
    if (step.tag === "offer") return offer(needs, said);
    const call = needs.calls.find(step.attrs["call-id"]!);
    if (!call) return violations.report("unknown_call", by.label, `no call ${step.attrs["call-id"]}`);
    if (step.tag === "terminate") terminate(needs, call, said);
    else answer(needs, call, said);
  };
}

const knowsStep = (tag: string): boolean => tag === "offer" || tag === "terminate" || tag in ANSWERS;

function offer(needs: Needs, { by, attrs, content, to }: Step): void {
  const { world, calls, violations } = needs;
  const group = isGroupJid(to) ? world.group(to) : undefined;
  const called = group
    ? [...group.members.keys()].filter((number) => number !== by.account.number)
    : [world.find(to)?.number].filter((number) => number !== undefined);
  if (called.length === 0) return violations.report("malformed_stanza", by.label, `a call to ${to}`);
  const addressing =
    group?.addressing ?? (isLidJid(to) || by.account.hidesNumber ? "lid" : by.account.addressing);
  const creator = userJid(by.account, addressing);
  const call: Call = { id: attrs["call-id"]!, from: by.account.number, creator, at: new Map() };
  calls.begin(call);
  for (const number of called) {
    call.at.set(number, { state: "ringing" });
    // It rings for the caller alone.
    if (!group && needs.profiles.blocks(world.account(number), by.account)) continue;
    const named = { "group-jid": group?.id, type: group && "group" };
    // Members of a group are told that there is a call; one person is given what it takes to speak.
    const video = content.some(({ tag }) => tag === "video");
    if (group) tell(needs, number, call, "offer_notice", { ...named, media: video ? "video" : "audio" });
    else tell(needs, number, call, "offer", named, content);
  }
  needs.changed();
}

/** The caller ends it: whoever it still rings at is told. */
function terminate(needs: Needs, call: Call, { by, attrs }: Step): void {
  if (by.account.number !== call.from) {
    needs.violations.report("foreign_call", by.label, `${call.id} is not its own to end`);
    return;
  }
  for (const [number, known] of call.at) {
    if (known.state !== "ringing") continue;
    known.state = "ended";
    tell(needs, number, call, "terminate", { reason: attrs.reason });
  }
  needs.changed();
}

function answer(needs: Needs, call: Call, { by, tag, attrs, to }: Step): void {
  const { world, violations } = needs;
  const known = call.at.get(by.account.number);
  const wrong =
    world.find(to)?.number !== call.from || world.find(attrs["call-creator"])?.number !== call.from;
  if (!known || wrong) {
    violations.report("foreign_call", by.label, `${tag} of ${call.id} to ${to} by ${attrs["call-creator"]}`);
    return;
  }
  // Too late: somebody else has answered, or the caller has given up.
  if (known.state !== "ringing") return;
  const { state, elsewhere } = ANSWERS[tag]!;
  Object.assign(known, { state, device: by.id });
  tell(needs, by.account.number, call, "terminate", { reason: elsewhere }, [], by);
  const from = userJid(by.account, isLidJid(call.creator) ? "lid" : "pn");
  for (const device of listedDevices(world.account(call.from)))
    needs.deliver(device, stanza(needs, from, call, { tag, attrs: {}, content: [] }));
  needs.changed();
}

/** Tells an account's companions, but for the one that has brought it about. */
function tell(
  needs: Needs,
  number: string,
  call: Call,
  tag: string,
  attrs: Attributes,
  content: BinaryNode[] = [],
  but?: Device,
): void {
  const account: Account = needs.world.account(number);
  for (const device of listedDevices(account)) {
    if (device.id === 0 || device === but) continue;
    needs.deliver(device, stanza(needs, call.creator, call, { tag, attrs, content }));
  }
}

function stanza(
  { world, now, nextId }: Needs,
  from: string,
  { id, creator, from: caller }: Call,
  { tag, attrs, content }: { tag: string; attrs: Attributes; content: BinaryNode[] },
): BinaryNode {
  const { number, name } = world.account(caller);
  const numbers =
    isLidJid(creator) && !world.account(caller).hidesNumber ? `${number}@s.whatsapp.net` : undefined;
  const said = element(
    tag,
    { "call-id": id, "call-creator": creator, caller_pn: numbers, ...attrs },
    content.length > 0 ? content : undefined,
  );
  return element("call", { from, id: nextId(), t: now(), notify: name }, [said]);
}
