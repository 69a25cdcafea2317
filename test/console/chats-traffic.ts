import { deflateSync } from "node:zlib";
import { until } from "../_setup/world.ts";
import type { World } from "../_setup/world.ts";

export const SHOP = "6281234567001";
export const ANA = "6281298765432";
export const BEN = "5215512345678";
export const EVE = "447700900123";

/** What strangers write to be seen as something else, to run, or to fill the screen. */
export const HOSTILE = {
  script: `<img src=x onerror="window.__hacked=1"><script>window.__hacked=1</script>`,
  turned: "\u202Egnp.exe\u202C נסיון \u2067abc",
  invisible: "pay\u200b\u2060\ufeffpal\u0007",
  long: `${"W".repeat(65_000)} end`,
};

/** A picture of one colour. */
export function picture(width: number, height: number, rgb: [number, number, number]): Buffer {
  const line = Buffer.concat([
    Buffer.from([0]),
    Buffer.concat(Array.from({ length: width }, () => Buffer.from(rgb))),
  ]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc(body));
  return Buffer.concat([size, body, sum]);
}
function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** The gateway has this message, and has decided about it. */
export async function stored(world: World, id: string): Promise<void> {
  await until(async () => {
    const { status, body } = await world.gateway.get(`/messages/${id}/trace`, { key: world.key });
    return status === 200 && body["data"].outcome !== "waiting";
  });
}

/** A number, a bot, and a little of everything that people write. @returns ids by what they are, and the group */
export async function someTraffic(world: World): Promise<Record<string, string>> {
  const { sim } = world;
  await world.link(SHOP);
  await world.bindBots(SHOP, "ping", "menu");
  await sim.addContact(ANA, { name: "Ana María" });
  await sim.addContact(BEN, { name: HOSTILE.script });
  await sim.addContact(EVE, { name: "Eve \u202Eevil" });
  const { id: group } = await sim.addGroup({ subject: "Regulars", members: [SHOP, ANA, BEN] });
  const ids: Record<string, string> = { group };
  const keep = async (name: string, sent: Promise<{ id: string }>): Promise<string> => {
    const { id } = await sent;
    ids[name] = id;
    await stored(world, id);
    return id;
  };
  await keep("hello", sim.sendText(ANA, SHOP, "Hello, are you open on Sunday?"));
  await keep("ping", sim.sendText(ANA, SHOP, "ping"));
  await keep(
    "image",
    sim.send(ANA, SHOP, {
      kind: "image",
      bytes: picture(64, 48, [60, 140, 200]),
      caption: "This one, please",
      mimetype: "image/png",
    }),
  );
  await keep(
    "document",
    sim.send(ANA, SHOP, { kind: "document", bytes: Buffer.from("%PDF-1.4 x"), fileName: "Order 12.pdf" }),
  );
  await keep(
    "location",
    sim.send(ANA, SHOP, {
      kind: "location",
      latitude: -6.2,
      longitude: 106.8,
      name: "Warung Ana",
      address: "Jl. Merdeka 1",
    }),
  );
  const vcard = `BEGIN:VCARD\nVERSION:3.0\nFN:Ben\nTEL;type=CELL;waid=${BEN}:+${BEN}\nEND:VCARD`;
  await keep("contact", sim.send(ANA, SHOP, { kind: "contacts", contacts: [{ name: "Ben", vcard }] }));
  await keep("wrong", sim.sendText(ANA, SHOP, "Two pieces"));
  await keep("edit", sim.edit(ANA, ids["wrong"]!, "Three pieces"));
  await keep("mistake", sim.sendText(ANA, SHOP, "Wrong chat, sorry"));
  await keep("revoke", sim.revoke(ANA, ids["mistake"]!));
  await keep("reaction", sim.react(ANA, ids["hello"]!, "👍"));
  await keep("own", sim.typeAsOwner(SHOP, ANA, "I am typing this on the phone"));
  await keep("script", sim.sendText(BEN, SHOP, HOSTILE.script));
  await keep("turned", sim.sendText(BEN, SHOP, HOSTILE.turned));
  await keep("invisible", sim.sendText(BEN, SHOP, HOSTILE.invisible));
  await keep("long", sim.sendText(BEN, SHOP, HOSTILE.long));
  await keep("inGroup", sim.sendText(BEN, group, "When do we meet?"));
  await keep(
    "quoting",
    sim.sendText(ANA, group, "At eight", {
      quoted: { id: ids["inGroup"]!, participant: BEN, text: "When do we meet?" },
    }),
  );
  await keep("eve", sim.sendText(EVE, SHOP, "\u202Eolleh"));
  return ids;
}
