import { randomUUID } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { listenTo, type Told } from "../_setup/event-listener.ts";
import { removeFolder } from "../_setup/folders.ts";
import { findSqld } from "../_setup/sqld.ts";
import { until } from "../_setup/world.ts";
import { startCluster, type Cluster, type ClusterNode } from "./cluster.ts";
import { CHANGES, endpointsWithoutChange } from "./changes.ts";
import { can } from "./tools.ts";
import { scanning } from "../_setup/scanning.ts";

const SHOP = "31600000001";
const ANA = "4915100000001";
const PING =
  'export default { enable: "bound", routes: (b) => b.keyword("ping", (ctx) => ctx.reply("pong")) };';

/** What a test sees of two gateways on one database: neither says which of them has the number. */
describe.skipIf(findSqld() === null || !can("redis-server", "--version"))(
  "a request at any of two nodes",
  () => {
    let cluster: Cluster;
    let key = "";
    let one: ClusterNode;
    let two: ClusterNode;
    let ana: { lid: string };
    const bots = mkdtempSync(join(tmpdir(), "parley-requests-bots-"));

    beforeAll(async () => {
      writeFileSync(join(bots, "ping.mjs"), PING);
      const env = { BOTS_DIR: bots };
      cluster = await startCluster({ nodes: 2, entry: inject("serverEntry"), leaseSeconds: 3, env });
      [one, two] = cluster.nodes as [ClusterNode, ClusterNode];
      ({ key } = await one.client.createAccount());
      const { sim } = cluster;
      const phone = await sim.addNumber(SHOP);
      const isLinked = scanning(phone);
      // At both in turn: the QR code is that of whoever has the number.
      await until(async () => {
        const codes = await Promise.all(
          cluster.nodes.map(({ client }) => client.post("/generate-qr", { device: SHOP }, { key })),
        );
        const shown = codes.find(({ body }) => body.state === "qr");
        if (shown) await isLinked(shown.body);
        return codes.every(({ body }) => body.state === "connected");
      });
      ana = await sim.addContact(ANA, { name: "Ana" });
    });
    afterAll(async () => {
      await cluster?.close();
      removeFolder(bots);
    });

    /** The same, asked at each. */
    const atBoth = <T>(ask: (node: ClusterNode) => Promise<T>): Promise<[T, T]> =>
      Promise.all([ask(one), ask(two)]);
    const send = ({ client }: ClusterNode, message: string, more: object = {}) =>
      client.post("/send-message", { sender: SHOP, number: ANA, message, ...more }, { key });

    it("sends, and says that it is sent", async () => {
      const answers = await atBoth((node) => send(node, `by ${node.name}`));

      for (const { status, body } of answers)
        expect({ status, body }).toMatchObject({ status: 200, body: { status: true, state: "sent" } });
      for (const { name } of [one, two])
        await cluster.sim.waitForMessage(ANA, { from: SHOP, text: `by ${name}` });
    });

    it("under one idempotency key at both at once puts one message on the wire", async () => {
      const idempotency_key = randomUUID();
      const answers = await atBoth((node) => send(node, "once", { idempotency_key }));
      const statuses = answers.map(({ status }) => status).toSorted();
      // The second may come when the first is answered.
      expect([
        [200, 200],
        [200, 409],
      ]).toContainEqual(statuses);

      const again = await atBoth((node) => send(node, "once", { idempotency_key }));
      expect(again.map(({ status }) => status)).toEqual([200, 200]);
      expect(again[0].body).toEqual(again[1].body);
      await cluster.sim.settle();
      const received = await cluster.sim.messages(ANA);
      expect(received.filter(({ text }) => text === "once")).toHaveLength(1);
    });

    it("lists the groups, and finds the number behind a LID of one", async () => {
      await cluster.sim.addGroup({
        subject: "Guests",
        creator: ANA,
        members: [ANA, SHOP],
        addressing: "lid",
      });
      const groups = await atBoth(({ client }) =>
        client.post("/groups", { sender: SHOP, refresh: true }, { key }),
      );
      for (const { status, body } of groups) {
        expect({ status, body }).toMatchObject({ status: 200, body: { data: [{ name: "Guests" }] } });
      }
      const { lid } = ana;
      const found = await atBoth(({ client }) => client.post("/resolve-lid", { sender: SHOP, lid }, { key }));
      for (const { body } of found) expect(body).toMatchObject({ status: true, number: ANA });
    });

    it("is looked at below for every endpoint that changes something", () => {
      expect(endpointsWithoutChange()).toEqual([]);
    });
    for (const { by, shows } of CHANGES)
      it(`finds what another has changed a moment ago: ${by.join(", ")}`, async () => {
        const { sim, adminToken } = cluster;
        const both = { sim, key, adminToken, number: SHOP, contact: ANA, bots };
        for (const [at, next] of [
          [one, two],
          [two, one],
        ] as const)
          await expect(shows({ ...both, at: at.client, next: next.client })).resolves.toBeUndefined();
      });

    it("hears at either what happens, under the same ids, and goes on at the other", async () => {
      const listeners = await atBoth(({ client }) => listenTo(client.url, key));
      const told = (text: string, at: { told: Told[] }) =>
        at.told.find(({ event, data }) => event === "message.in" && data["text"] === text);
      /** A lease that was lost on a busy machine comes first; what was heard instead is said. */
      const heard = (text: string, all: { told: Told[]; ended: boolean }[]): Promise<void> =>
        until(() => {
          const missing = all.filter((at) => told(text, at) === undefined);
          expect(missing.map(({ told: known, ended }) => ({ known, ended }))).toEqual([]);
          return true;
        }, 90_000);

      await cluster.sim.sendText(ANA, SHOP, "first");
      await heard("first", listeners);
      const [first, second] = listeners;
      expect(told("first", first)).toEqual(told("first", second));
      const { id } = told("first", first)!;
      for (const listener of listeners) listener.stop();
      await cluster.sim.sendText(ANA, SHOP, "second");

      const again = await atBoth(({ client }) => listenTo(client.url, key, id));
      await heard("second", again);
      for (const { told: all } of again) expect(all.every((event) => event.id > id)).toBe(true);
    }, 240_000);

    it("measures under the name of the node", async () => {
      for (const { client, name } of [one, two])
        expect(await (await fetch(`${client.url}/metrics`, { headers: operator() })).text()).toContain(
          `parley_leases{node="${name}"}`,
        );
    });
    const operator = () => ({ authorization: `Bearer ${cluster.adminToken}` });

    it("shows the number alike", async () => {
      const shown = await atBoth(({ client }) => client.get(`/devices/${SHOP}`, { key }));
      const [first, second] = shown.map(({ body }) => {
        const { state, since, lid } = body["data"];
        return { state, since, lid };
      });
      expect(first).toMatchObject({ state: "connected" });
      expect(second).toEqual(first);
    });

    it("waits while the node is gone that had the number, and is done by the one that takes it", async () => {
      await until(async () => (await ownerOf()) !== undefined);
      const owner = (await ownerOf())!;
      const other = owner === one ? two : one;
      await owner.part.kill();

      const asked = await other.client.post("/groups", { sender: SHOP, refresh: true }, { key });
      expect({ status: asked.status, body: asked.body }).toMatchObject({
        status: 503,
        body: { status: false, errors: { code: "UNAVAILABLE" } },
      });
      expect(Number(asked.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await send(other, "after all")).toMatchObject({ status: 200, body: { state: "sent" } });
      await cluster.sim.waitForMessage(ANA, { from: SHOP, text: "after all" });
    });

    /** Who has all numbers of this test, which is one. */
    async function ownerOf(): Promise<ClusterNode | undefined> {
      const { body } = await one.client.get("/admin/nodes", { key: cluster.adminToken });
      const found = (body["data"] as { node: string; numbers: number }[]).find(({ numbers }) => numbers > 0);
      return cluster.nodes.find(({ name }) => name === found?.node);
    }
  },
);
