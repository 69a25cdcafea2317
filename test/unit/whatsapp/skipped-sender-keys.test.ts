import type { SignalDataSet, SignalKeyStore } from "@whiskeysockets/baileys";
import { pino } from "pino";
import { expect, it } from "vitest";
import { baileys } from "../../../src/whatsapp/baileys.ts";

const GROUP = "123@g.us";
const AUTHOR = "4915100000001@s.whatsapp.net";

function makeRepository() {
  const rows = new Map<string, unknown>();
  const store: SignalKeyStore = {
    get: async (type, ids) =>
      Object.fromEntries(
        ids.flatMap((id) => (rows.has(`${type}/${id}`) ? [[id, rows.get(`${type}/${id}`)]] : [])),
      ) as never,
    set: async (data: SignalDataSet) => {
      for (const [type, values] of Object.entries(data))
        for (const [id, value] of Object.entries(values ?? {})) rows.set(`${type}/${id}`, value);
    },
  };
  const logger = pino({ level: "silent" });
  const keys = baileys.addTransactionCapability(store, logger, {
    maxCommitRetries: 1,
    delayBetweenTriesMs: 0,
  });
  const creds = baileys.initAuthCreds();
  return baileys.DEFAULT_CONNECTION_CONFIG.makeSignalRepository({ creds, keys }, logger);
}

it("reads group messages that arrive out of order", async () => {
  const writer = makeRepository();
  const reader = makeRepository();
  const encrypt = (text: string) =>
    writer.encryptGroupMessage({ group: GROUP, data: Buffer.from(text), meId: AUTHOR });
  const first = await encrypt("first");
  const second = await encrypt("second");
  const third = await encrypt("third");
  const item = { groupId: GROUP, axolotlSenderKeyDistributionMessage: first.senderKeyDistributionMessage };
  await reader.processSenderKeyDistributionMessage({ item, authorJid: AUTHOR });

  const read: string[] = [];
  for (const { ciphertext } of [third, first, second])
    read.push(
      Buffer.from(
        await reader.decryptGroupMessage({ group: GROUP, authorJid: AUTHOR, msg: ciphertext }),
      ).toString(),
    );

  expect(read).toEqual(["third", "first", "second"]);
});
