import { expect } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { until, type World } from "../_setup/world.ts";
import { fieldsOf, parametersOf } from "./requests.ts";

/** Everything that belongs to one account, as requests name it. */
export interface Belongings {
  number: string;
  /** By the segment of the path that they stand behind. */
  ids: Record<string, string>;
  /** Of a contact whose number only this account knows. */
  lid: string;
  group: string;
}

export interface Tenant {
  account: string;
  /** With every permission. */
  key: string;
  first: Belongings;
  /** Of a second number, which {@link limitedKey} may use. */
  second: Belongings;
  /** Every permission, for the second number alone. */
  limitedKey: string;
}

/** An account with two linked numbers, each of which has written, was written to and has a webhook. */
export async function addTenant(world: World, prefix: string, contact: string): Promise<Tenant> {
  const { gateway } = world;
  const { id: account, key } = await gateway.createAccount(`Tenant ${prefix}`);
  const first = await addNumber(world, key, `${prefix}1`, `${contact}1`);
  const second = await addNumber(world, key, `${prefix}2`, `${contact}2`);
  const limited = { name: "one number", permissions: ["*"], devices: [second.number] };
  const { body } = await gateway.post("/api-keys", limited, { key });
  return { account, key, first, second, limitedKey: body["api_key"] };
}

async function addNumber(world: World, key: string, number: string, contact: string): Promise<Belongings> {
  const { gateway, sim } = world;
  const options = { key };
  await world.link(number, options);
  const person = await sim.addContact(contact, { addressing: "lid" });
  const { id: group } = await sim.addGroup({ subject: `Group of ${number}`, members: [contact, number] });
  // Nobody answers there: the delivery is there all the same.
  await gateway.put(`/devices/${number}/webhook`, { url: "http://127.0.0.1:9/" }, options);
  await person.sendText(number, "hello");
  let delivery = "";
  await until(async () => {
    const { body } = await gateway.get(`/deliveries?device=${number}`, options);
    return (delivery = body["data"][0]?.id ?? "") !== "";
  });
  const message = { sender: number, number: contact, message: "hello to you" };
  const sent = await gateway.post("/send-message", message, options);
  expect(sent.status).toBe(200);
  await sim.waitForMessage(contact, { id: sent.body["id"] });
  // What waits for its time belongs to the account as well.
  const later = { ...message, message: "see you", send_at: Math.floor(Date.now() / 1_000) + 86_400 };
  const scheduled = await gateway.post("/send-message", later, options);
  expect(scheduled.body["state"]).toBe("scheduled");
  const made = await gateway.post("/api-keys", { name: "spare", permissions: ["lid"] }, options);
  const channel = await sim.addChannel({ name: `Channel of ${number}`, admins: [number] });
  const registered = await gateway.post("/channels", { sender: number, channel: channel.id }, options);
  expect(registered.status).toBe(200);
  const listener = { url: "http://127.0.0.1:9/listener" };
  const listens = await gateway.post(`/devices/${number}/webhooks`, listener, options);
  const link = await gateway.post(`/devices/${number}/magic-link`, {}, options);
  const ids = {
    "magic-link": link.body["data"].id,
    webhooks: listens.body["data"].id,
    channels: channel.id,
    groups: group,
    chats: contact,
    contacts: contact,
    messages: sent.body["id"],
    scheduled: scheduled.body["id"],
    deliveries: delivery,
    "api-keys": made.body["data"].id,
  };
  return { number, ids, lid: person.lid, group };
}

/** Where an endpoint names what belongs to an account. */
export interface Place {
  in: "path" | "field";
  name: string;
  /** What stands there, of these belongings. */
  of(belongings: Belongings): string;
}

/** @throws for an endpoint whose ids nobody has told {@link Belongings} */
export function placesOf(endpoint: Endpoint): Place[] {
  const segments = endpoint.path.split("/");
  const inPath = parametersOf(endpoint).map((name): Place => {
    if (name === "number") return { in: "path", name, of: ({ number }) => number };
    const segment = segments[segments.indexOf(`{${name}}`) - 1];
    return { in: "path", name, of: ({ ids }) => known(ids[segment!], endpoint) };
  });
  const inFields = fieldsOf(endpoint)
    .filter((name) => name === "sender" || name === "device")
    .map((name): Place => ({ in: "field", name, of: ({ number }) => number }));
  return [...inPath, ...inFields];
}

function known(id: string | undefined, endpoint: Endpoint): string {
  if (id !== undefined) return id;
  throw new Error(`Say in tenants.ts which id of an account ${endpoint.path} takes.`);
}

/** Of the same shape as an id or number, but of nobody. */
export function unlike(id: string): string {
  const end = id.lastIndexOf("@") < 0 ? id.length : id.lastIndexOf("@");
  const turned = id.slice(end - 6, end).replace(/[0-9a-fA-F]/g, (sign) => {
    if (/[0-9]/.test(sign)) return String((Number(sign) + 3) % 10);
    const first = sign < "a" ? "A" : "a";
    return String.fromCharCode(first.charCodeAt(0) + ((sign.charCodeAt(0) - first.charCodeAt(0) + 3) % 6));
  });
  return id.slice(0, end - 6) + turned + id.slice(end);
}
