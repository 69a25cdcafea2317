/**
 * The yardstick: the shortest echo bot on Baileys that works. Default options, silent logger, keys in memory, nothing
 * awaited beyond `sendMessage`. Settings come as JSON in argv[2]; it talks to the bench over IPC.
 */
import {
  initAuthCreds,
  makeWASocket,
  proto,
  WA_CERT_DETAILS,
  type SignalDataTypeMap,
} from "@whiskeysockets/baileys";
import { pino } from "pino";

const { wsUrl, noiseRoot } = JSON.parse(process.argv[2] ?? "{}") as { wsUrl: string; noiseRoot: string };
Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(noiseRoot, "hex") });

const creds = initAuthCreds();
const rows = new Map<string, unknown>();
const keys = {
  get: async <T extends keyof SignalDataTypeMap>(type: T, ids: string[]) => {
    const found: Record<string, SignalDataTypeMap[T]> = {};
    for (const id of ids) {
      const value = rows.get(`${type}/${id}`);
      if (value) found[id] = value as SignalDataTypeMap[T];
    }
    return found;
  },
  set: async (data: Record<string, Record<string, unknown> | undefined>) => {
    for (const [type, values] of Object.entries(data))
      for (const [id, value] of Object.entries(values ?? {}))
        if (value) rows.set(`${type}/${id}`, value);
        else rows.delete(`${type}/${id}`);
  },
};

let sock: ReturnType<typeof makeWASocket>;
function connect(): void {
  sock = makeWASocket({
    auth: { creds, keys },
    logger: pino({ level: "silent" }),
    waWebSocketUrl: wsUrl,
  });
  sock.ev.on("creds.update", (update) => Object.assign(creds, update));
  sock.ev.on("connection.update", ({ qr, connection }) => {
    if (qr) process.send?.({ qr });
    if (connection === "open") process.send?.({ open: true });
    if (connection === "close") connect();
  });
  sock.ev.on("messages.upsert", ({ messages }) => {
    for (const { key, message } of messages) {
      const text = message?.conversation ?? message?.extendedTextMessage?.text;
      if (text && !key.fromMe) void sock.sendMessage(key.remoteJid!, { text: `pong ${text}` });
    }
  });
}
connect();
process.on("message", async (order: { to: string; text: string }) => {
  const sent: proto.IWebMessageInfo | undefined = await sock.sendMessage(order.to, { text: order.text });
  process.send?.({ sent: sent?.key?.id });
});
