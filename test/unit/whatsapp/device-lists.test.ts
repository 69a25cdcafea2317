import { describe, expect, it } from "vitest";
import { createDeviceLists, type Device } from "../../../src/whatsapp/devices/device-lists.ts";

const list = (user: string, ...devices: number[]): Device[] =>
  devices.map((device) => ({ user, device, server: device === 99 ? "hosted.lid" : "lid" }));

describe("device lists", () => {
  it("come back as they were given, for their number only", async () => {
    const lists = createDeviceLists();
    const [one, other] = [lists.of(1), lists.of(2)];
    await one.set("49111", list("49111", 0, 12, 99));
    await one.mset!([{ key: "49222", value: list("49222", 0) }]);
    await one.set("49333", []);

    expect(await one.get("49111")).toEqual(list("49111", 0, 12, 99));
    expect(await one.mget!(["49111", "49222", "49333", "49444"])).toEqual({
      "49111": list("49111", 0, 12, 99),
      "49222": list("49222", 0),
      "49333": [],
      "49444": undefined,
    });
    expect(await other.get("49111")).toBeUndefined();
    await one.del("49111");
    expect(await one.get("49111")).toBeUndefined();
    lists.drop([1]);
    expect(await one.get("49222")).toBeUndefined();
  });

  it("of 10,000 contacts take three megabytes, and those used last stay", async () => {
    const lists = createDeviceLists(3 * 1024 * 1024);
    const one = lists.of(1);
    const user = (n: number): string => String(490_000_000_000 + n);
    for (let n = 0; n < 30_000; n++) {
      await one.set(user(n), list(user(n), 0, 3));
      await one.get(user(0));
    }
    let known = 0;
    for (let n = 0; n < 30_000; n++) if ((await one.get(user(n))) !== undefined) known++;
    expect(known).toBeGreaterThan(10_000);
    expect(known).toBeLessThan(15_000);
    expect(await one.get(user(0))).toEqual(list(user(0), 0, 3));
    expect(await one.get(user(1))).toBeUndefined();
  });
});
