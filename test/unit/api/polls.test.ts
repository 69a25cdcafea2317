import { describe, expect, it } from "vitest";
import type { SendRequest } from "../../../src/outbox/submitting/submit.ts";
import { createRoutesApp, OWN_NUMBER } from "../../_setup/routes-app.ts";

const POLL = { sender: OWN_NUMBER, number: "4915100000001", name: "Lunch?", option: ["Pizza", "Pasta"] };

/** Sends by POST with a body, or by GET with a query; `draft` is what would have been sent. */
async function sendPoll(sent: object | string) {
  let draft: SendRequest["draft"] | null = null;
  const app = createRoutesApp({
    outbox: {
      async submit(request) {
        draft = request.draft;
        return request.destinations.map(({ number }) => ({ number, state: "sent", id: "3EB0" }));
      },
    },
  });
  const { sender, number } = POLL;
  const answer =
    typeof sent === "string"
      ? await app.ask("GET", `/send-poll?sender=${sender}&number=${number}&${sent}`)
      : await app.ask("POST", "/send-poll", sent);
  return { answer, draft };
}

const draftOf = async (sent: object | string) => (await sendPoll(sent)).draft;
const poll = (options: string[], selectable = 1) => ({ kind: "poll", name: "Lunch?", options, selectable });

describe("POST /send-poll", () => {
  it("reads options and countable, trimmed, numbers as their text", async () => {
    expect(await draftOf(POLL)).toEqual(poll(["Pizza", "Pasta"]));
    expect(await draftOf({ ...POLL, option: [" Pizza ", 7] })).toEqual(poll(["Pizza", "7"]));
    expect(await draftOf({ ...POLL, countable: "0" })).toEqual(poll(POLL.option, 0));
    expect(await draftOf({ ...POLL, countable: 0 })).toEqual(poll(POLL.option, 0));
    expect(await draftOf({ ...POLL, countable: "1" })).toEqual(poll(POLL.option, 1));
    expect(await draftOf({ ...POLL, option: ["a,b", "c"] })).toEqual(poll(["a,b", "c"]));
  });

  it.each([
    ["one option", { option: ["Pizza"] }, "option"],
    ["six options", { option: ["1", "2", "3", "4", "5", "6"] }, "option"],
    ["no option", { option: undefined }, "option"],
    ["an object of options", { option: { a: "Pizza", b: "Pasta" } }, "option"],
    ["a blank option", { option: ["Pizza", " "] }, "option"],
    ["an option of 101 characters", { option: ["Pizza", "x".repeat(101)] }, "option"],
    ["options that are the same once trimmed", { option: ["Pizza", " Pizza"] }, "option"],
    ["no name", { name: undefined }, "name"],
    ["a blank name", { name: "  " }, "name"],
    ["a name of 256 characters", { name: "x".repeat(256) }, "name"],
    ["another countable", { countable: "2" }, "countable"],
    ["a countable that is a flag", { countable: true }, "countable"],
  ])("refuses %s", async (_, change, field) => {
    const { answer, draft } = await sendPoll({ ...POLL, ...change });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.code).toBe("INVALID_PARAMETERS");
    expect(Object.keys(answer.body.errors.fields)).toEqual([field]);
    expect(draft).toBeNull();
  });

  it("takes names of 255 and options of 100 characters, five of them", async () => {
    const option = ["1", "2", "3", "4", "x".repeat(100)];
    const { answer } = await sendPoll({ ...POLL, name: "x".repeat(255), option });
    expect(answer.status).toBe(200);
  });
});

describe("GET /send-poll", () => {
  it.each([
    ["repeated", "option=Pizza&option=Pasta"],
    ["with brackets", "option[]=Pizza&option[]=Pasta"],
    ["numbered, in any order", "option[1]=Pasta&option[0]=Pizza"],
    ["separated by commas", "option=Pizza,+Pasta"],
  ])("reads options %s", async (_, option) => {
    expect(await draftOf(`name=Lunch%3F&${option}`)).toEqual(poll(["Pizza", "Pasta"]));
  });

  it("leaves commas alone when there are several options", async () => {
    expect(await draftOf("name=Lunch%3F&option=a,b&option=c")).toEqual(poll(["a,b", "c"]));
  });
});
