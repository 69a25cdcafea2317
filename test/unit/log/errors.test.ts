import { describe, expect, it } from "vitest";
import type { BotLog } from "../../../src/bot/types/context.ts";
import { loadConfig } from "../../../src/config.ts";
import { createLogger, type Logger } from "../../../src/log.ts";
import { LoggedError } from "../../../src/model/errors/logged-error.ts";

function capture() {
  const lines: string[] = [];
  const log = createLogger(loadConfig({ LOG_LEVEL: "debug" }), { write: (line) => lines.push(line) });
  return { log, record: () => JSON.parse(lines.at(-1)!), text: () => lines.join("") };
}

const WORDS = "grandmother's secret recipe";
const PERSON = "4915777777777";
const QUERY = "https://crm.example.com/hook?auth=s3cr3tqueryvalue";

/** Throws as a library does that quotes what it was given. */
function throwAt(error: unknown): never {
  throw error;
}

function thrown(error: unknown): unknown {
  try {
    return throwAt(error);
  } catch (caught) {
    return caught;
  }
}

class QuotingError extends Error {
  readonly code = "E_QUOTES";
  readonly params = [WORDS];
  override readonly name = "QuotingError";
}

const quoting: Record<string, () => unknown> = {
  "an error that quotes": () => new QuotingError(`could not take “${WORDS}” of ${PERSON} to ${QUERY}`),
  "one of several lines that look like frames": () => new QuotingError(`x\n    at ${WORDS} (/${PERSON}:1:1)`),
  "one whose message was changed afterwards": () => {
    const error = new QuotingError(WORDS);
    error.message = "harmless";
    return error;
  },
  "one whose name is a sentence": () => Object.assign(new Error("x"), { name: WORDS }),
  "one whose code is a sentence": () => Object.assign(new Error("x"), { code: WORDS, errno: 1 }),
  "one with a cause": () => new Error("outer", { cause: new QuotingError(`${WORDS} ${PERSON} ${QUERY}`) }),
  "several at once": () => new AggregateError([new QuotingError(WORDS)], PERSON),
  "what JSON.parse says": () => {
    try {
      return JSON.parse(`${WORDS}`);
    } catch (error) {
      return error;
    }
  },
  "what URL says": () => {
    try {
      return new URL(`${WORDS}?${PERSON}`);
    } catch (error) {
      return error;
    }
  },
  "a text": () => WORDS,
  "an object": () => ({ message: WORDS, person: PERSON }),
};

/** Every way in which code, a bot's too, may hand an error to a log. */
const ways: Record<string, (log: Logger, error: unknown) => void> = {
  "as err": (log, err) => log.error({ err, device: 1, message: "3EB0" }, "it failed"),
  "under another name": (log, err) => {
    if (err instanceof Error) log.warn({ why: err }, "it failed");
    else log.warn({ err }, "it failed");
  },
  "as err without a text": (log, err) => (log as BotLog).error({ err }),
  alone: (log, error) => {
    if (error instanceof Error) (log as BotLog).error(error);
    else log.error({ err: error }, "it failed");
  },
  "to a child": (log, err) => log.child({ bot: "x" }).error({ err }, "it failed"),
};

describe("an error in the log", () => {
  for (const [what, make] of Object.entries(quoting))
    it.each(Object.entries(ways))(`has its name and place and no word of a person: ${what}, %s`, (_, way) => {
      const { log, record, text } = capture();
      const error = thrown(make());

      way(log, error);

      const err = record().err ?? record().why;
      for (const word of ["grandmother", "recipe", PERSON, "s3cr3tqueryvalue"])
        expect(text()).not.toContain(word);
      expect(err.type).toMatch(/^[\w$]+$/);
      if (error instanceof Error) expect(err.stack).toMatch(/errors\.test\.ts:\d+:\d+/);
    });

  it("says its kind, its code and the first place of all, and those of its cause", () => {
    const { log, record } = capture();

    log.error(
      { err: new Error("outer", { cause: new QuotingError(WORDS) }), device: 7, message: "3EB0" },
      "x",
    );

    expect(record()).toMatchObject({
      level: 50,
      device: 7,
      message: "3EB0",
      msg: "x",
      err: { type: "Error" },
    });
    expect(record().err.cause).toMatchObject({ type: "QuotingError", code: "E_QUOTES" });
    expect(record().err.stack.split("\n")[0]).toMatch(/^ +at .*errors\.test\.ts:\d+:\d+\)?$/);
  });

  it("in a circle of causes ends", () => {
    const { log, record } = capture();
    const error = new Error("x");
    error.cause = error;

    log.error({ err: error }, "x");

    expect(record().err.cause.cause.cause.cause).toMatchObject({ type: "Error" });
  });
});

describe("an address in the log", () => {
  it("has no query, wherever in the line it stands", () => {
    const { log, text } = capture();

    log.info({ url: QUERY, list: [QUERY] }, `posted to ${QUERY}`);

    expect(text()).not.toContain("s3cr3tqueryvalue");
    expect(text()).toContain("https://crm.example.com/hook?[redacted]");
  });
});

it("an error that is logged with a message of its own keeps its name", () => {
  const { log, record } = capture();
  log.error({ err: new LoggedError(new RangeError("deep"), { message: "said" }) }, "failed");
  expect(record().err).toMatchObject({ type: "RangeError", message: "said" });
});
