import { expect, it } from "vitest";
import { loadConfig } from "../../../src/config.ts";
import { createContactQuestions } from "../../../src/directory/contacts/details.ts";
import { createContactList } from "../../../src/directory/contacts/list.ts";
import { createContactNotes } from "../../../src/directory/contacts/notes.ts";
import { alone } from "../../../src/model/nodes/alone.ts";
import { HOUR_MS } from "../../../src/model/time.ts";
import { RateOverlimit } from "../../../src/whatsapp/port.ts";
import { silentLog, temporaryStore } from "../store/temporary.ts";

const log = silentLog(loadConfig({ DATA_DIR: "/nowhere", LOG_LEVEL: "silent" }));
const DEVICE = 1;
const START = 1_700_000_000_000;
const PN = "4915100000001@s.whatsapp.net";
const LID = "123456789012345@lid";

async function openQuestions() {
  let now = START;
  let isOpen = true;
  let about: () => string = () => "Hello";
  const asked: string[] = [];
  const store = await temporaryStore({}, () => now);
  await store.writer.commit([
    {
      sql: "INSERT INTO devices (id, account_id, number, state, since, created_at) VALUES (?, 'a', '31600000001', 'connected', 0, 0)",
      args: [DEVICE],
    },
  ]);
  const list = createContactList(store);
  const notes = createContactNotes({ store, log, observe: () => undefined });
  const line = {
    async contactDetails(jid: string) {
      asked.push(jid);
      return { about: about(), pictureUrl: null, verifiedName: null, business: null };
    },
    setBlocked: async () => undefined,
  };
  const connection = () => (isOpen ? line : null);
  const questions = createContactQuestions({ store, log, cluster: alone(), list, notes, connection });
  return {
    asked,
    look: (...keys: string[]) => questions.details(DEVICE, keys),
    pass: (ms: number) => (now += ms),
    says: (by: typeof about) => (about = by),
    close: () => (isOpen = false),
  };
}

it("asks about somebody once a day, by the LID where it is known", async () => {
  const { look, asked, pass, says } = await openQuestions();
  expect(await look(PN, LID)).toMatchObject({ about: "Hello", askedAt: START });
  says(() => "Closed");
  pass(23 * HOUR_MS);
  expect(await look(PN, LID)).toMatchObject({ about: "Hello" });
  expect(asked).toEqual([LID]);
  pass(2 * HOUR_MS);
  expect(await look(PN, LID)).toMatchObject({ about: "Closed", askedAt: START + 25 * HOUR_MS });
  expect(asked).toEqual([LID, LID]);
});

it("answers with what is stored while WhatsApp does not answer or the number is away; nothing is null", async () => {
  const { look, pass, says, close } = await openQuestions();
  await look(PN);
  pass(25 * HOUR_MS);
  says(() => {
    throw new RateOverlimit();
  });
  expect(await look(PN)).toMatchObject({ about: "Hello" });
  expect(await look(LID)).toBeNull();
  close();
  expect(await look(PN)).toMatchObject({ about: "Hello" });
});

it("asks about twenty people in a minute at most", async () => {
  const { look, asked, pass } = await openQuestions();
  const people = Array.from({ length: 21 }, (_, index) => `${4_915_100_000_000 + index}@s.whatsapp.net`);
  for (const person of people.slice(0, 20)) expect(await look(person)).not.toBeNull();
  expect(await look(people[20]!)).toBeNull();
  expect(asked).toHaveLength(20);
  pass(HOUR_MS);
  expect(await look(people[20]!)).not.toBeNull();
});
