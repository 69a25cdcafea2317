import { encrypt } from "../../src/whatsapp/everyday/ratchet.ts";
import { Party, type Message } from "./ratchet-party.ts";

/** Two whose session is open on both sides. */
export async function openChat(): Promise<{ ana: Party; ben: Party; write(from: Party): Message }> {
  const [ana, ben] = [new Party("ana"), new Party("ben")];
  const write = (from: Party): Message => {
    const { ciphertext, record } = encrypt(from.record!, Buffer.from("hello"), from.identity.pubKey);
    from.keep(record);
    return { type: 1, body: ciphertext, text: "hello" };
  };
  await ana.meet(ben);
  const first = await ana.encrypt("first");
  ana.keep(first.record);
  ben.keep((await ben.decrypt({ ...first, text: "first" }, null))!.record);
  ana.keep((await ana.decrypt(write(ben), null))!.record);
  return { ana, ben, write };
}
