// @ts-check
/**
 * The yardstick: the shortest echo bot on Baileys that works. Default options, silent logger, keys in memory, nothing
 * awaited beyond `sendMessage`. Plain JavaScript, run by plain Node: a loader with source maps would be paid for by every
 * error that Baileys makes, and flatter whatever is measured beside it. Settings come as JSON in argv[2]; it talks to the
 * bench over IPC.
 */
import { initAuthCreds, makeWASocket, WA_CERT_DETAILS } from "@whiskeysockets/baileys";
import { pino } from "pino";

const { wsUrl, noiseRoot } = JSON.parse(process.argv[2] ?? "{}");
Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(noiseRoot, "hex") });

const creds = initAuthCreds();
/** @type {Map<string, any>} */
const rows = new Map();
/** @type {import("@whiskeysockets/baileys").SignalKeyStore} */
const keys = {
  async get(type, ids) {
    /** @type {Record<string, any>} */
    const found = {};
    for (const id of ids) {
      const value = rows.get(`${type}/${id}`);
      if (value) found[id] = value;
    }
    return found;
  },
  async set(data) {
    for (const [type, values] of Object.entries(data))
      for (const [id, value] of Object.entries(values ?? {}))
        if (value) rows.set(`${type}/${id}`, value);
        else rows.delete(`${type}/${id}`);
  },
};

/** @type {ReturnType<typeof makeWASocket>} */
let sock;
function connect() {
  sock = makeWASocket({ auth: { creds, keys }, logger: pino({ level: "silent" }), waWebSocketUrl: wsUrl });
  sock.ev.on("creds.update", (update) => Object.assign(creds, update));
  sock.ev.on("connection.update", ({ qr, connection }) => {
    if (qr) process.send?.({ qr });
    if (connection === "open") process.send?.({ open: true });
    if (connection === "close") connect();
  });
  sock.ev.on("messages.upsert", ({ messages }) => {
    for (const { key, message } of messages) {
      const text = message?.conversation ?? message?.extendedTextMessage?.text;
      if (text && !key.fromMe) void sock.sendMessage(key.remoteJid ?? "", { text: `pong ${text}` });
    }
  });
}
connect();
process.on("message", async (/** @type {{ to: string, text: string }} */ order) => {
  const sent = await sock.sendMessage(order.to, { text: order.text });
  process.send?.({ sent: sent?.key?.id });
});
