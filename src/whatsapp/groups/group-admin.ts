import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { picturing } from "../life/profile.ts";
import { childOf, childrenOf } from "../nodes.ts";
import {
  GroupRefused,
  type GroupAdmin,
  type GroupDetails,
  type GroupSettings,
  type JoinRequest,
  type MemberOutcome,
} from "../port/group-admin.ts";
import { oneGroup, readGroup } from "./group-nodes.ts";

/** Source of the nodes: whatsmeow `group.go`; Baileys `Socket/groups.js`. */
export function createGroupAdmin(socket: () => WASocket): GroupAdmin {
  async function ask(to: string, type: "get" | "set", ...content: BinaryNode[]): Promise<BinaryNode> {
    return query({ tag: "iq", attrs: { to, xmlns: "w:g2", type }, content });
  }

  async function query(node: BinaryNode): Promise<BinaryNode> {
    try {
      const answer = (await socket().query(node)) as BinaryNode | undefined;
      if (answer === undefined) throw new Error("WhatsApp did not answer about a group.");
      return answer;
    } catch (error) {
      const code = Number((error as { data?: unknown }).data);
      throw code >= 400 && code < 600 ? new GroupRefused(code) : error;
    }
  }

  async function details(id: string): Promise<GroupDetails> {
    return readDetails(childOf(await query(oneGroup(id)), "group")!);
  }

  return {
    details,
    async create({ subject, description, participants }) {
      const key = socket().generateMessageTag();
      const answer = await ask("@g.us", "set", {
        tag: "create",
        attrs: { subject, key },
        content: [...people(participants), ...(description === "" ? [] : [describing(description, key)])],
      });
      const node = childOf(answer, "group")!;
      return { group: readDetails(node), refused: outcomes(node).filter(({ error }) => error !== null) };
    },
    async change(id, { description, picture, ...settings }) {
      for (const node of settingNodes(settings)) await ask(id, "set", node);
      if (picture !== undefined) await query(picturing(picture, id));
      if (description === undefined) return;
      const seen = childOf(childOf(await query(oneGroup(id)), "group"), "description")?.attrs["id"];
      await ask(id, "set", describing(description, socket().generateMessageTag(), seen));
    },
    async members(id, action, asked) {
      const answer = await ask(id, "set", { tag: action, attrs: {}, content: people(asked) });
      return inOrder(asked, outcomes(childOf(answer, action)));
    },
    async invite(id, renew) {
      const answer = await ask(id, renew ? "set" : "get", { tag: "invite", attrs: {} });
      return childOf(answer, "invite")!.attrs["code"]!;
    },
    async join(code) {
      const answer = await ask("@g.us", "set", { tag: "invite", attrs: { code } });
      const joined = childOf(answer, "group");
      const { jid = "" } = (joined ?? childOf(answer, "membership_approval_request"))!.attrs;
      return { id: jid, requested: joined === undefined };
    },
    async leave(id) {
      await ask("@g.us", "set", { tag: "leave", attrs: {}, content: [{ tag: "group", attrs: { id } }] });
    },
    async requests(id) {
      const answer = await ask(id, "get", { tag: "membership_approval_requests", attrs: {} });
      return childrenOf(childOf(answer, "membership_approval_requests")).map(readRequest);
    },
    async decide(id, action, asked) {
      const content = [{ tag: action, attrs: {}, content: people(asked) }];
      const answer = await ask(id, "set", { tag: "membership_requests_action", attrs: {}, content });
      const decided = childOf(childOf(answer, "membership_requests_action"), action);
      return inOrder(asked, outcomes(decided));
    },
  };
}

const people = (jids: readonly string[]): BinaryNode[] =>
  jids.map((jid) => ({ tag: "participant", attrs: { jid } }));

/** @param seen id of the description that it replaces */
function describing(text: string, id: string, seen?: string): BinaryNode {
  const prev: Record<string, string> = seen === undefined ? {} : { prev: seen };
  if (text === "") return { tag: "description", attrs: { delete: "true", ...prev } };
  const body = { tag: "body", attrs: {}, content: Buffer.from(text) };
  return { tag: "description", attrs: { id, ...prev }, content: [body] };
}

function settingNodes({
  subject,
  announce,
  locked,
  approval,
  ephemeral,
}: Omit<GroupSettings, "description" | "picture">): BinaryNode[] {
  const nodes: BinaryNode[] = [];
  if (subject !== undefined) nodes.push({ tag: "subject", attrs: {}, content: Buffer.from(subject) });
  if (announce !== undefined) nodes.push({ tag: announce ? "announcement" : "not_announcement", attrs: {} });
  if (locked !== undefined) nodes.push({ tag: locked ? "locked" : "unlocked", attrs: {} });
  if (approval !== undefined) {
    const state = { tag: "group_join", attrs: { state: approval ? "on" : "off" } };
    nodes.push({ tag: "membership_approval_mode", attrs: {}, content: [state] });
  }
  if (ephemeral === 0) nodes.push({ tag: "not_ephemeral", attrs: {} });
  else if (ephemeral !== undefined)
    nodes.push({ tag: "ephemeral", attrs: { expiration: String(ephemeral) } });
  return nodes;
}

function readDetails(node: BinaryNode): GroupDetails {
  const { creator, creator_pn: number, creation } = node.attrs;
  const body = childOf(childOf(node, "description"), "body")?.content;
  const approval = childOf(childOf(node, "membership_approval_mode"), "group_join");
  return {
    ...readGroup(node),
    // Those whom nobody may add stand among them.
    participants: readGroup({ ...node, content: childrenOf(node).filter(({ attrs }) => !attrs["error"]) })
      .participants,
    description: body === undefined ? "" : Buffer.from(body as Uint8Array).toString(),
    owner: personOf([number, creator]),
    createdAt: creation === undefined ? null : Number(creation) * 1000,
    locked: childOf(node, "locked") !== undefined,
    approval: approval?.attrs["state"] === "on",
    parent: childOf(node, "linked_parent")?.attrs["jid"] ?? null,
  };
}

/** Digits where one of the addresses has them. */
function personOf(addresses: (string | undefined)[]): string | null {
  const found = addresses.filter((address) => address !== undefined).map((address) => withoutDevice(address));
  const pn = found.find(isPn);
  return pn === undefined ? (found.find(isLid) ?? null) : userOf(pn);
}

function outcomes(node: BinaryNode | undefined): (MemberOutcome & { others: string[] })[] {
  return childrenOf(node)
    .filter(({ tag }) => tag === "participant")
    .map(({ attrs }) => ({
      jid: attrs["jid"]!,
      error: attrs["error"] === undefined ? null : Number(attrs["error"]),
      others: [attrs["phone_number"], attrs["lid"]].filter((one) => one !== undefined),
    }));
}

/** WhatsApp may name people by the other kind of their addresses. */
function inOrder(asked: readonly string[], found: ReturnType<typeof outcomes>): MemberOutcome[] {
  return asked.map((jid, index) => {
    const named = found.find((one) => one.jid === jid || one.others.includes(jid));
    const outcome = named ?? (found.length === asked.length ? found[index] : undefined);
    return { jid, error: outcome === undefined ? 404 : outcome.error };
  });
}

function readRequest({ attrs }: BinaryNode): JoinRequest {
  const addresses = [attrs["jid"], attrs["phone_number"], attrs["lid"]];
  const found = addresses.filter((one) => one !== undefined).map((one) => withoutDevice(one));
  const pn = found.find(isPn);
  return {
    number: pn === undefined ? null : userOf(pn),
    lid: found.find(isLid) ?? null,
    at: Number(attrs["request_time"] ?? 0) * 1000,
  };
}
