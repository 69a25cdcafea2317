import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import {
  writePreKeyMessage,
  writeSenderKeyMessage,
  writeWhisperMessage,
} from "../../src/simulator/signal/wire.ts";
import { bytes, child, children, element, uint } from "../../src/simulator/wire/nodes.ts";
import type { BinaryNode } from "../../src/simulator/wire/nodes.ts";
import { Client, MemoryAuth, link, proto, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const OTHER = "31622222222";
const jid = (number: string, device = 0) => `${number}${device === 0 ? "" : `:${device}`}@s.whatsapp.net`;

/** A first-contact ciphertext that looks right from outside and cannot be read. */
function forgedFirstContact(preKeyId: number): Buffer {
  const message = proto.PreKeySignalMessage.encode({
    registrationId: 1,
    preKeyId,
    signedPreKeyId: 1,
    baseKey: Buffer.concat([Buffer.from([5]), randomBytes(32)]),
    identityKey: Buffer.concat([Buffer.from([5]), randomBytes(32)]),
    message: randomBytes(60),
  }).finish();
  return Buffer.concat([Buffer.from([0x33]), message]);
}

const enc = (type: string, content: Buffer): BinaryNode => element("enc", { v: "2", type }, content);

/** A message as a client would send it, with hand-made ciphertexts by device. */
function message(to: string, copies: Record<string, BinaryNode>, ...more: BinaryNode[]): BinaryNode {
  const participants = Object.entries(copies).map(([device, copy]) => element("to", { jid: device }, [copy]));
  const id = `3EB0${randomBytes(9).toString("hex").toUpperCase()}`;
  return element("message", { id, to, type: "text" }, [element("participants", {}, participants), ...more]);
}

function identityOf(client: Client): BinaryNode {
  const account = proto.ADVSignedDeviceIdentity.encode(client.auth.creds.account!).finish();
  return element("device-identity", {}, Buffer.from(account));
}

async function linked() {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(CONTACT);
  await sim.addContact(OTHER);
  const client = await link(sim, NUMBER);
  return { sim, client };
}

it("records nothing when nothing is wrong, and says so to who expects something", async () => {
  const { sim } = await linked();
  expect(await sim.violations()).toEqual([]);
  await expect(sim.expectViolation("device_list", { timeoutMs: 20 })).rejects.toThrow(
    "no violation of device_list",
  );
});

it("refuses a pairing answer that another key has signed", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = new Client(sim);
  const qr = await until("QR", () => client.qrs[0]);
  client.auth.creds.signedIdentityKey.private = new MemoryAuth().creds.signedIdentityKey.private;
  await expect(number.scan(qr)).rejects.toThrow("400 (bad-request)");
  expect(await client.untilClosed()).toBe(401);
  expect(await sim.expectViolation("pairing_signature")).toHaveLength(1);
  expect(await number.companions()).toEqual([]);
});

it("makes pairing answers that hold only with the secret of the QR", async () => {
  const sim = await simulate();
  const number = await sim.addNumber(NUMBER);
  const client = new Client(sim);
  const qr = await until("QR", () => client.qrs[0]);
  client.auth.creds.advSecretKey = randomBytes(32).toString("base64");
  await expect(number.scan(qr)).rejects.toThrow("408 (companion-gone)");
  await client.untilClosed();
  expect(client.auth.creds.account).toBeUndefined();
  expect(await number.companions()).toEqual([]);
});

it("refuses a registration whose signed pre-key is not signed by its identity", async () => {
  const sim = await simulate();
  const auth = new MemoryAuth();
  auth.creds.signedPreKey.signature = randomBytes(64);
  const client = new Client(sim, {}, auth);
  expect(await client.untilClosed()).toBe(400);
  expect(await sim.expectViolation("signed_prekey_signature")).not.toHaveLength(0);
});

it("refuses an upload with a wrong signature", async () => {
  const { sim, client } = await linked();
  client.auth.creds.signedPreKey.signature = randomBytes(64);
  // Baileys tries again three times with pauses; the first refusal is enough.
  void client.socket.uploadPreKeys(5).catch(() => {});
  expect(await sim.expectViolation("signed_prekey_signature")).not.toHaveLength(0);
  expect(await sim.expectViolation("malformed_iq")).not.toHaveLength(0);
});

it("records a one-time pre-key that was never given out, and one that is used twice", async () => {
  const { sim, client } = await linked();
  const query = element("iq", { xmlns: "encrypt", type: "get", to: "@s.whatsapp.net" }, [
    element("key", {}, [element("user", { jid: jid(CONTACT) })]),
  ]);
  const answer: BinaryNode = await client.socket.query(query);
  const user = children(child(answer, "list"))[0];
  const given = uint(child(child(user, "key"), "id"))!;
  expect(bytes(child(user, "identity"))).toHaveLength(32);
  const send = (preKeyId: number) =>
    client.socket.sendNode(
      message(
        jid(CONTACT),
        {
          [jid(CONTACT)]: enc("pkmsg", forgedFirstContact(preKeyId)),
          [jid(NUMBER)]: enc("msg", randomBytes(50)),
        },
        identityOf(client),
      ),
    );
  await send(given);
  expect(await sim.expectViolation("undecryptable")).not.toHaveLength(0);
  expect((await sim.violations()).filter(({ rule }) => rule.startsWith("prekey"))).toEqual([]);
  await send(given);
  expect((await sim.expectViolation("prekey_reused"))[0]!.detail).toContain(`pre-key ${given}`);
  await send(999_999);
  expect(await sim.expectViolation("prekey_unknown")).not.toHaveLength(0);
  await sim.settle();
  expect(await sim.expectViolation("undecryptable")).not.toHaveLength(0);
});

it("records devices that were left out and devices that do not exist", async () => {
  const { sim, client } = await linked();
  await client.socket.sendNode(
    message(jid(CONTACT), { [jid(CONTACT, 9)]: enc("msg", randomBytes(50)) }, identityOf(client)),
  );
  const [violation] = await sim.expectViolation("device_list");
  expect(violation!.detail).toContain(`missing [${CONTACT}:0, ${NUMBER}:0], unknown [${jid(CONTACT, 9)}]`);
});

it("records a first contact without the companion's signed identity, or with a wrong one", async () => {
  const { sim, client } = await linked();
  const query = element("iq", { xmlns: "encrypt", type: "get", to: "@s.whatsapp.net" }, [
    element("key", {}, [element("user", { jid: jid(CONTACT) })]),
  ]);
  const answer: BinaryNode = await client.socket.query(query);
  const given = uint(child(child(children(child(answer, "list"))[0], "key"), "id"))!;
  const copies = {
    [jid(CONTACT)]: enc("pkmsg", forgedFirstContact(given)),
    [jid(NUMBER)]: enc("msg", randomBytes(50)),
  };
  await client.socket.sendNode(message(jid(CONTACT), copies));
  expect(await sim.expectViolation("device_identity_missing")).not.toHaveLength(0);
  client.auth.creds.account!.deviceSignature = randomBytes(64);
  await client.socket.sendNode(message(jid(CONTACT), copies, identityOf(client)));
  expect(await sim.expectViolation("device_identity_invalid")).not.toHaveLength(0);
  await sim.settle();
  expect(await sim.expectViolation("undecryptable")).not.toHaveLength(0);
});

it("records two texts under one message key, and no text that is sent twice", async () => {
  const { sim, client } = await linked();
  const [ratchetKey, macKey, identity] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const under = (counter: number) => {
    const content = { ratchetKey, counter, previousCounter: 0, ciphertext: randomBytes(32) };
    return enc("msg", Buffer.from(writeWhisperMessage(content, macKey, identity, identity)));
  };
  const first = under(0);
  const send = (copy: typeof first) =>
    client.socket.sendNode(message(jid(CONTACT), { [jid(CONTACT)]: copy }));
  for (const copy of [first, first, under(1)]) await send(copy);
  await send(under(0));
  expect(await sim.expectViolation("message_key_reused")).toHaveLength(1);
  await sim.settle();
  for (const rule of ["undecryptable", "device_list"]) await sim.expectViolation(rule);
});

it("records two first messages under one message key, and two in a group, also when they are refused", async () => {
  const { sim, client } = await linked();
  const [key, identity] = [randomBytes(32), randomBytes(32)];
  const whisper = (ciphertext: Buffer) =>
    writeWhisperMessage(
      { ratchetKey: key, counter: 0, previousCounter: 0, ciphertext },
      key,
      identity,
      identity,
    );
  const first = (ciphertext: Buffer) =>
    enc(
      "pkmsg",
      Buffer.from(
        writePreKeyMessage({
          registrationId: 1,
          signedPreKeyId: 1,
          baseKey: key,
          identity,
          message: whisper(ciphertext),
        }),
      ),
    );
  const common = (iteration: number, ciphertext: Buffer) =>
    enc(
      "skmsg",
      Buffer.from(writeSenderKeyMessage({ keyId: 7, iteration, ciphertext }, () => randomBytes(64))),
    );
  const send = (copy: BinaryNode) => client.socket.sendNode(message(jid(CONTACT), { [jid(CONTACT)]: copy }));
  await sim.faults.errorAck({ number: NUMBER, code: 479, times: 7 });
  const [one, other] = [randomBytes(32), randomBytes(32)];
  for (const text of [one, one]) await send(first(text));
  for (const iteration of [0, 1]) await send(common(iteration, one));
  await send(common(0, one));
  await sim.settle();
  expect(await sim.violations()).toEqual([]);
  await send(first(other));
  await send(common(1, other));
  await until("both to be seen", async () => (await sim.violations()).length === 2);
  for (const { detail } of await sim.expectViolation("message_key_reused"))
    expect(detail).toMatch(/^message 3EB0[0-9A-F]+ and message 3EB0[0-9A-F]+$/);
});

it("records one message id for two chats", async () => {
  const { sim, client } = await linked();
  await client.say(jid(CONTACT), "one", "3EB0AAAAAAAAAAAAAAAAAA");
  await client.say(jid(OTHER), "two", "3EB0AAAAAAAAAAAAAAAAAA");
  expect(await sim.expectViolation("id_reused")).not.toHaveLength(0);
});

it("records a group message without a common ciphertext", async () => {
  const { sim, client } = await linked();
  const group = await sim.addGroup({ subject: "G", members: [CONTACT, NUMBER], addressing: "pn" });
  await client.socket.sendNode(message(group.id, { [jid(CONTACT)]: enc("msg", randomBytes(50)) }));
  expect(await sim.expectViolation("group_without_skmsg")).not.toHaveLength(0);
});

it("records members that never got the sender key", async () => {
  const { sim, client } = await linked();
  const group = await sim.addGroup({ subject: "G", members: [CONTACT, NUMBER], addressing: "pn" });
  const everybody = { [jid(CONTACT)]: true, [jid(NUMBER)]: true };
  await client.auth.state.keys.set({ "sender-key-memory": { [group.id]: everybody } });
  await client.say(group.id, "nobody can read this");
  const [violation] = await sim.expectViolation("sender_key_missing");
  expect(violation!.detail).toContain(`${CONTACT}:0`);
  await sim.waitForMessage(CONTACT, { text: "nobody can read this" });
  await sim.settle();
  expect(await sim.expectViolation("undecryptable")).not.toHaveLength(0);
});

it("records stanzas that stay without acknowledgement", async () => {
  const { sim, client } = await linked();
  client.socket.ws.removeAllListeners("CB:notification");
  await sim.addGroup({ subject: "G", members: [CONTACT, NUMBER] });
  await sim.settle(200);
  expect((await sim.expectViolation("missing_ack"))[0]!.detail).toContain("w:gp2");
  await client.end();
});

it("refuses and records questions that nobody asks", async () => {
  const { sim, client } = await linked();
  const ask = (xmlns: string, body: BinaryNode) =>
    client.socket.query(element("iq", { xmlns, type: "get", to: "@s.whatsapp.net" }, [body]));
  await expect(ask("w:nonsense", element("what"))).rejects.toThrow("feature-not-implemented");
  expect(await sim.expectViolation("unknown_iq")).not.toHaveLength(0);
  await expect(ask("usync", element("usync"))).rejects.toThrow("bad-request");
  expect(await sim.expectViolation("malformed_iq")).not.toHaveLength(0);
});

it("records receipts and acks for what was never sent, and unknown stanzas", async () => {
  const { sim, client } = await linked();
  await client.socket.sendReceipt(jid(CONTACT), undefined, ["NEVER"], undefined);
  expect(await sim.expectViolation("unknown_receipt")).not.toHaveLength(0);
  await client.socket.sendNode(element("ack", { id: "NEVER", class: "notification", to: jid(CONTACT) }));
  expect(await sim.expectViolation("unknown_ack")).not.toHaveLength(0);
  await client.socket.sendNode(element("message", { to: jid(CONTACT) }, [element("enc")]));
  expect(await sim.expectViolation("malformed_stanza")).not.toHaveLength(0);
  await client.socket.sendNode(element("gibberish"));
  expect(await sim.expectViolation("unknown_stanza")).not.toHaveLength(0);
});

it("records ciphertext without shape", async () => {
  const { sim, client } = await linked();
  const copies = {
    [jid(CONTACT)]: element("enc", { v: "1", type: "none" }, randomBytes(9)),
    [jid(NUMBER)]: enc("msg", randomBytes(50)),
  };
  await client.socket.sendNode(message(jid(CONTACT), copies));
  expect(await sim.expectViolation("malformed_ciphertext")).not.toHaveLength(0);
  await sim.settle();
  expect(await sim.expectViolation("undecryptable")).not.toHaveLength(0);
});
