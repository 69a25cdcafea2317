import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type LibrarySimulator, element } from "../../src/simulator/inside.ts";
import { startFileHost } from "../_setup/files.ts";
import { recordOf, sendText, SHOP, untilState } from "../_setup/outgoing.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { opus } from "../unit/media/samples.ts";

// Several starts and reconnects, on a machine that is busy with others.
vi.setConfig({ testTimeout: 240_000 });

const ANA = "4915100000001";
const BEN = "4915100000002";

let world: World;
beforeAll(async () => {
  world = await keepWorld();
  await world.link(SHOP);
  await world.sim.addContact(ANA, { name: "Ana", devices: 2 });
  await world.sim.addContact(BEN, { name: "Ben", addressing: "lid" });
});
afterAll(() => closeWorld(world));

const statesOf = async (id: string): Promise<string[]> =>
  (await recordOf(world, id))["history"].map(({ state }: { state: string }) => state);

/** A receipt as the server passes it on, made up by the test. */
function tell(attrs: Record<string, string>): void {
  const { server } = world.sim as LibrarySimulator;
  const device = server.world.account(SHOP).devices.get(1)!;
  server.deliver(device, element("receipt", { t: server.now(), ...attrs }));
}

const fromAna = { from: `${ANA}@s.whatsapp.net` };

/** Everything that was told before has been dealt with: a message that came later is delivered. */
async function caughtUp(): Promise<void> {
  await until(async () => (await world.sim.pending(SHOP)) === 0);
  const { body } = await sendText(world, BEN, "marker");
  await untilState(world, body["id"], "delivered");
}

describe("the state of a sent message", () => {
  it("goes to read, and not back when another device reports its delivery later, or the same once more", async () => {
    const { body } = await sendText(world, ANA, "read me");
    const id: string = body["id"];
    await untilState(world, id, "delivered");
    await world.sim.markRead(ANA, id);
    await untilState(world, id, "read");

    tell({ id, ...fromAna });
    tell({ id, from: `${ANA}:1@s.whatsapp.net` });
    tell({ id, ...fromAna, type: "read" });
    tell({ id: "3EB0000000000000000000", ...fromAna, type: "read" });
    await caughtUp();

    expect(await statesOf(id)).toEqual(["queued", "sent", "delivered", "read"]);
    expect((await recordOf(world, id))["state"]).toBe("read");
  });

  it("goes to played for a voice note", async () => {
    const host = await startFileHost({ "/note.ogg": opus() });
    const { gateway, key, sim } = world;
    const { body } = await gateway.post(
      "/send-media",
      { sender: SHOP, number: ANA, media_type: "audio", ptt: "vn", url: host.url("/note.ogg") },
      { key },
    );
    await untilState(world, body["id"], "delivered");

    await sim.markPlayed(ANA, body["id"]);

    await untilState(world, body["id"], "played");
    expect(await statesOf(body["id"])).toEqual(["queued", "sent", "delivered", "played"]);
  });

  it("is told by receipts from a LID as well, several messages in one", async () => {
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) {
      const { body } = await sendText(world, BEN, text);
      ids.push(body["id"]);
      await untilState(world, body["id"], "delivered");
    }
    const { lid } = await world.sim.contact(BEN);
    const { server } = world.sim as LibrarySimulator;
    const list = element(
      "list",
      {},
      ids.slice(1).map((id) => element("item", { id })),
    );
    server.deliver(
      server.world.account(SHOP).devices.get(1)!,
      element("receipt", { id: ids[0], from: lid, type: "read", t: server.now() }, [list]),
    );

    for (const id of ids) await untilState(world, id, "read");
    expect(ids).toHaveLength(3);
  });

  it("in a group is what the furthest member has done", async () => {
    const { sim } = world;
    const group = await sim.addGroup({ subject: "Team", creator: ANA, members: [SHOP, ANA, BEN] });
    const { body } = await sendText(world, group.id, "to all");
    await untilState(world, body["id"], "delivered");
    await sim.markRead(BEN, body["id"]);
    await untilState(world, body["id"], "read");

    tell({ id: body["id"], from: group.id, participant: (await sim.contact(ANA)).lid });
    await caughtUp();

    expect(await statesOf(body["id"])).toEqual(["queued", "sent", "delivered", "read"]);
  });

  it("stays failed whatever is told about it later", async () => {
    await world.sim.faults.errorAck({ number: SHOP, to: ANA, code: 406 });
    const { body } = await sendText(world, ANA, "refused");
    expect(body).toMatchObject({ status: false, errors: { code: "WHATSAPP_REFUSED", whatsapp_code: 406 } });

    tell({ id: body["id"], ...fromAna });
    await caughtUp();

    expect(await statesOf(body["id"])).toEqual(["queued", "failed"]);
  });
});
