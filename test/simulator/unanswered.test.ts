import { expect, it } from "vitest";
import { connectSimulator } from "../../src/simulator/client.ts";
import { link, simulate, until } from "./_setup.ts";

const NUMBER = "31600000001";
const CONTACT = "31611111111";
const CONTACT_JID = `${CONTACT}@s.whatsapp.net`;
/** How long somebody waits who gets no answer. */
const LIMIT_MS = 200;
/** The same for somebody who gets one. */
const PATIENT_MS = 60_000;

it("loses the questions that are meant, so often, and answers all others", async () => {
  const sim = await simulate();
  await sim.addNumber(NUMBER);
  await sim.addContact(CONTACT);
  const { socket } = await link(sim, NUMBER);
  const ask = async (xmlns: string, tag: string, withinMs = PATIENT_MS) =>
    socket
      .query(
        { tag: "iq", attrs: { to: "@s.whatsapp.net", type: "get", xmlns }, content: [{ tag, attrs: {} }] },
        withinMs,
      )
      .then(
        (answer) => answer.attrs.type,
        () => "no answer",
      );
  await sim.faults.unansweredIqs({ number: NUMBER, xmlns: "privacy", type: "get", times: 2 });

  expect(await ask("encrypt", "count")).toBe("result");
  expect(await ask("privacy", "privacy", LIMIT_MS)).toBe("no answer");
  expect(await ask("privacy", "privacy", LIMIT_MS)).toBe("no answer");
  expect(await ask("privacy", "privacy")).toBe("result");
  expect(await sim.countStanzas({ number: NUMBER, xmlns: "privacy", direction: "in" })).toBe(4);
});

it("is told over HTTP, may name the child, and ends with clear", async () => {
  const sim = await simulate({ controlPort: 0 });
  const remote = connectSimulator(sim.controlUrl);
  await remote.addNumber(NUMBER);
  await remote.addContact(CONTACT);
  const client = await link(sim, NUMBER);
  await remote.faults.unansweredIqs({ number: NUMBER, xmlns: "encrypt", child: "key" });
  await remote.faults.unansweredIqs({ number: NUMBER, xmlns: "usync", times: 1000 });

  const lookUp = client.socket.onWhatsApp(CONTACT);
  await until(
    "question",
    async () => (await sim.countStanzas({ number: NUMBER, xmlns: "usync", direction: "in" })) > 0,
  );
  expect(
    await Promise.race([lookUp, new Promise((resolve) => setTimeout(resolve, LIMIT_MS, "no answer"))]),
  ).toBe("no answer");
  await remote.faults.clear();

  expect((await client.say(CONTACT_JID, "hello")).ack?.attrs.error).toBeUndefined();
  await expect(remote.faults.unansweredIqs({ number: NUMBER, times: 0 })).rejects.toThrow("times must be");
});
