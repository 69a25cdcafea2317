import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it, onTestFinished } from "vitest";
import { openWorld, until } from "../_setup/world.ts";

const BOTS = fileURLToPath(new URL("../../bots/", import.meta.url));
/** Where authors throw, in a bot of the build and in a file of one. */
const THROWN = "throw new Error(";
const SHOP = "31600000001";
const ANA = "4915100000001";

it("knows of the lines of its bots where their authors wrote them", () => {
  const script = readFileSync(join(inject("serverEntry"), "../gateway.cjs"), "latin1").split("\n");
  const [, table] = /BOT_LINES = ("(?:[^"\\]|\\.)*");/.exec(script[0]!)!;
  const lines = Object.entries(JSON.parse(JSON.parse(table!) as string) as Record<string, string>);
  expect(new Set(lines.map(([, place]) => place.split("/")[0]!.split(":")[0]))).toContain("lead-form.ts");

  const thrown = lines.filter(([line]) => script[Number(line) - 1]!.includes(THROWN));
  expect(thrown.length).toBeGreaterThan(0);
  for (const [, place] of thrown) {
    const [file, line] = place.split(":");
    expect(readFileSync(join(BOTS, file!), "utf8").split("\n")[Number(line) - 1]).toContain(THROWN);
  }
});

it("an error in a bot of the build names the file and the line that its author wrote", async () => {
  // A kitchen whose times are no times: the bot's own code fails on the first of them.
  const kitchen = createServer((_request, response) => response.end("[5]")).listen(0, "127.0.0.1");
  await once(kitchen, "listening");
  onTestFinished(() => void kitchen.close());
  const kitchenUrl = `http://127.0.0.1:${(kitchen.address() as AddressInfo).port}`;
  const { sim, gateway, key, link } = await openWorld();
  await link(SHOP);
  const bots = [{ id: "restaurant", enabled: true, config: { kitchenUrl } }];
  expect((await gateway.put(`/devices/${SHOP}/bots`, { bots }, { key })).status).toBe(200);
  await sim.addContact(ANA, { name: "Ana" });

  await sim.sendText(ANA, SHOP, "table");
  await sim.waitForMessage(ANA, { from: SHOP });
  const { id } = await sim.sendText(ANA, SHOP, "4");

  const written = readFileSync(join(BOTS, "restaurant.ts"), "utf8").split("\n");
  const line = written.findIndex((text) => text.includes("time.slice(")) + 1;
  await until(async () => {
    const { body } = await gateway.get(`/devices/${SHOP}/decisions?message=${id}`, { key });
    expect(body.data[0].trail.at(-1)).toMatchObject({
      by: "bot:restaurant",
      detail: `failed: TypeError at restaurant.ts:${line}`,
    });
    return true;
  });
});
