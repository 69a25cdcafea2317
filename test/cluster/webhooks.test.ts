import { expect, inject, it, onTestFinished } from "vitest";
import { startReceiver } from "../_setup/receiver.ts";
import { findSqld } from "../_setup/sqld.ts";
import { until } from "../_setup/world.ts";
import { startCluster, type Cluster, type ClusterNode } from "./cluster.ts";
import { scanning } from "../_setup/scanning.ts";

const SHOP = "31600000001";
const TEXTS = 5;

async function link({ sim }: Cluster, { client }: ClusterNode, key: string): Promise<void> {
  const owner = await sim.addNumber(SHOP);
  const isLinked = scanning(owner);
  await until(
    async () => isLinked((await client.post("/generate-qr", { device: SHOP }, { key })).body),
    60_000,
  );
}

it.skipIf(findSqld() === null)(
  "what a webhook missed reaches it once each, in the order of its chats, when the node that had the number is gone",
  async () => {
    const cluster = await startCluster({ nodes: 2, entry: inject("serverEntry"), leaseSeconds: 3 });
    onTestFinished(() => cluster.close());
    const { nodes, sim } = cluster;
    const { key } = await nodes[0]!.client.createAccount();
    await link(cluster, nodes[0]!, key);
    const receiver = await startReceiver();
    receiver.status = 503;
    await nodes[1]!.client.put(`/devices/${SHOP}/webhook`, { url: receiver.url }, { key });
    const people = await sim.addContacts(3, { prefix: "49151" });

    for (let text = 1; text <= TEXTS; text++)
      await Promise.all(people.map((person) => sim.sendText(person, SHOP, `${text}`)));
    // Nothing is posted any more, also not those whose second attempt was planned.
    await until(async () => {
      const { body } = await nodes[1]!.client.get("/deliveries?limit=100", { key });
      const made = (body.data as { attempts: unknown[] }[]).map(({ attempts }) => attempts.length);
      return made.length === people.length * TEXTS && made.includes(2) && !made.includes(1);
    });
    const { body } = await nodes[0]!.client.get("/admin/nodes", { key: cluster.adminToken });
    const has = (body.data as { node: string; numbers: number }[]).find(({ numbers }) => numbers === 1);
    const [gone, left] = nodes[0]!.name === has?.node ? nodes : [nodes[1], nodes[0]];
    const refused = receiver.events.length;
    await gone!.part.kill();
    receiver.status = 200;

    await until(() => receiver.events.length - refused >= people.length * TEXTS, 90_000);
    const accepted = receiver.events.slice(refused);
    expect(new Set(accepted.map(({ headers }) => headers["webhook-id"])).size).toBe(people.length * TEXTS);
    for (const person of people)
      expect(
        accepted.filter((event) => event.body["from"] === person).map((event) => event.body["text"]),
      ).toEqual(["1", "2", "3", "4", "5"]);
    await until(async () => {
      const answer = await left!.client.get("/deliveries?limit=100&state=delivered", { key });
      return answer.body.data.length === people.length * TEXTS;
    });
    expect(accepted).toHaveLength(people.length * TEXTS);
  },
  180_000,
);
