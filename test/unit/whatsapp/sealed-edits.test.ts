import { createCipheriv, hkdfSync } from "node:crypto";
import { expect, it } from "vitest";
import type { Incoming } from "../../../src/model/messages.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createEditReader } from "../../../src/whatsapp/content/sealed-edits.ts";
import { incoming } from "../bot/messages.ts";

const { proto } = baileys;
const OWN = { pn: "31600000001@s.whatsapp.net", lid: "900001@lid" };
const ANA = { pn: "15550001@s.whatsapp.net", lid: "900@lid" };
const BEN = { pn: "15550002@s.whatsapp.net", lid: "901@lid" };
const GROUP = "120363000000000001@g.us";
const TARGET = "3EB0AABBCCDDEEFF001122";
const secret = Buffer.alloc(32, 7);

function edit(text: string, author: string, editor: string) {
  const info = `${TARGET}${author}${editor}Message Edit`;
  const key = Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(32), info, 32));
  const encIv = Buffer.from("0123456789ab");
  const cipher = createCipheriv("aes-256-gcm", key, encIv);
  const plain = proto.Message.encode({ conversation: text }).finish();
  return proto.Message.create({
    secretEncryptedMessage: {
      targetMessageKey: { id: TARGET },
      encPayload: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]),
      encIv,
      secretEncType: proto.Message.SecretEncryptedMessage.SecretEncType.MESSAGE_EDIT,
    },
  });
}

const member = ({ pn, lid }: typeof ANA, change: Partial<Incoming> = {}): Incoming =>
  incoming({ chatKey: GROUP, sender: pn, participant: lid, number: pn.split("@")[0]!, lid, ...change });

const raw = Buffer.from(
  proto.Message.encode({ conversation: "at noon", messageContextInfo: { messageSecret: secret } }).finish(),
).toString("base64");
const read = createEditReader(
  {
    sent: async () => null,
    received: async (_chat, id) => (id === TARGET ? member(ANA, { raw }) : null),
    changes: async () => [],
    lidOfNumber: async () => null,
  },
  () => OWN,
  { hmac: () => Buffer.alloc(32) },
  async () => null,
);
const readAs = (who: typeof ANA, message: InstanceType<typeof proto.Message>) =>
  read(member(who, { type: "edit", text: "", targetId: TARGET }), message);

it.each([
  ["number", "number", ANA.pn, ANA.pn],
  ["LID", "LID", ANA.lid, ANA.lid],
  ["number", "LID", ANA.pn, ANA.lid],
])("an edit is opened whose author goes by %s and editor by %s", async (_author, _editor, author, editor) => {
  expect((await readAs(ANA, edit("at one", author, editor))).text).toBe("at one");
});

it("somebody else in the group, who has the secret as well, cannot change what Ana wrote", async () => {
  for (const author of Object.values(ANA))
    for (const editor of [...Object.values(BEN), ...Object.values(ANA)])
      expect((await readAs(BEN, edit("forged", author, editor))).text).toBe("");
});
