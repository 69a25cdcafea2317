import { describe, expect, it } from "vitest";
import { createIdempotency } from "../../../src/outbox/submitting/idempotency.ts";
import { silentLog } from "../store/temporary.ts";
import { configFor } from "../store/temporary-config.ts";
import { sendingClusters, sqld, type SendingNode } from "./sending-nodes.ts";

const opened = sendingClusters();
const log = silentLog(configFor("/nowhere"));
const ANSWER = { httpStatus: 200, body: { status: true }, headers: {} };
let keys = 0;

/** Two nodes that live, by the database's clock, and a key that nobody has used. */
async function pair() {
  const cluster = await opened();
  const [one, two] = await Promise.all([cluster.node("one"), cluster.node("two")]);
  await Promise.all([one, two].map((node) => lives(node, node.name, 3_600)));
  const request = {
    keyId: "key",
    route: "/send-message",
    key: `k${++keys}`,
    body: { message: "hi" },
  };
  const begin = (node: SendingNode) => createIdempotency({ store: node.store, log, node: node.name });
  return { one, two, first: begin(one), second: begin(two), request };
}

const lives = async ({ store }: SendingNode, name: string, seconds: number): Promise<void> =>
  void (await store.writer.commit(
    [
      {
        sql: `INSERT INTO nodes (name, incarnation, version, since, until) VALUES (?1, ?1 || '-run', '0', 0, (unixepoch() + ?2) * 1000)
ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
        args: [name, seconds],
      },
    ],
    { owning: null },
  ));

describe.skipIf(sqld === null)("an idempotency key that is used at two nodes", () => {
  it("begins one request, and tells the other that it is running", async () => {
    const { first, second, request } = await pair();

    const begun = await Promise.allSettled([first.begin(request), second.begin(request)]);

    expect(begun.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(begun.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "IDEMPOTENCY_IN_PROGRESS", details: { retryAfter: 1 } },
    });
  });

  it("is refused for another body, while the first request runs and afterwards", async () => {
    const { one, first, second, request } = await pair();
    const begun = await first.begin(request);
    const other = { ...request, body: { message: "something else" } };

    await expect(second.begin(other)).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
    if (begun.kind === "answered") return expect.unreachable();
    await one.store.writer.commit(begun.claim.statements([{ number: "1", id: "3EB0" }]), { owning: null });
    await begun.claim.end(ANSWER);
    await expect(second.begin(other)).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("has the first answer on both afterwards", async () => {
    const { one, first, second, request } = await pair();
    const begun = await first.begin(request);
    if (begun.kind === "answered") return expect.unreachable();
    await one.store.writer.commit(begun.claim.statements([{ number: "1", id: "3EB0" }]), { owning: null });
    await begun.claim.end(ANSWER);

    expect(await second.begin(request)).toMatchObject({ kind: "answered", answer: ANSWER });
    expect(await first.begin(request)).toMatchObject({ kind: "answered", answer: ANSWER });
  });

  it("is free again when the first request has stored nothing", async () => {
    const { first, second, request } = await pair();
    const begun = await first.begin(request);
    if (begun.kind === "answered") return expect.unreachable();
    await begun.claim.end(null);

    expect(await second.begin(request)).toMatchObject({ kind: "new" });
  });

  it("is free again when the node of the first request has died", async () => {
    const { one, first, second, request } = await pair();
    await first.begin(request);
    await expect(second.begin(request)).rejects.toMatchObject({ code: "IDEMPOTENCY_IN_PROGRESS" });

    await lives(one, "one", -1);

    expect(await second.begin(request)).toMatchObject({ kind: "new" });
  });
});
