import { expect, it } from "vitest";
import { Client, simulate, until } from "./_setup.ts";

/** What a seed decides: root, LIDs, group and message ids, QR references. */
async function fingerprint(seed: string, extraContact = false) {
  const sim = await simulate({ seed, clock: () => 1_790_000_000_000 });
  const number = await sim.addNumber("31600000001");
  if (extraContact) await sim.addContact("31633333333");
  const ann = await sim.addContact("31611111111");
  const ben = await sim.addContact("31622222222");
  const group = await sim.addGroup({ subject: "G", members: ["31611111111", "31622222222"] });
  const { id } = await ann.sendText("31622222222", "hi");
  const { ordinal } = await ben.waitForMessage({ id });
  const client = new Client(sim);
  const qr = await until("QR", () => client.qrs[0]);
  await client.end();
  const reference = qr.split("#")[1]!.split(",")[0];
  return {
    root: sim.noiseRoot,
    lids: [number.lid, ann.lid, ben.lid],
    group: group.id,
    id,
    ordinal,
    reference,
  };
}

it("does the same again from the same seed", async () => {
  expect(await fingerprint("one")).toEqual(await fingerprint("one"));
});

it("does something else from another seed", async () => {
  const [one, two] = [await fingerprint("one"), await fingerprint("two")];
  for (const key of ["root", "group", "id", "reference"] as const) expect(one[key]).not.toBe(two[key]);
});

it("keeps everybody's keys when somebody is added", async () => {
  const [without, withOne] = [await fingerprint("one"), await fingerprint("one", true)];
  expect(withOne).toEqual(without);
});
