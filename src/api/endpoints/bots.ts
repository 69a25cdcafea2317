import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { listOf, record } from "../schemas/answer.ts";
import { flag, integer, list, ownNumber, text } from "../../model/fields.ts";

const bots = { by: "key", permission: "bots" } as const;
/** Files that the operator has put there, and what they say themselves: no row of anybody adds to them. */
const bounded = "one entry for each bot of this gateway.";
const boundedRoutes = "as many routes as the bots of this gateway have.";

const bot = z
  .strictObject({
    id: z.string(),
    priority: z.int(),
    enable: z.string(),
    routes: z.array(z.strictObject({ kind: z.string(), pattern: z.string() })),
    /** What in its file is not what its author may have meant. */
    warnings: z.array(z.string()),
    /** Settings without which it is asked nothing on a number. */
    needs: z.array(z.string()).optional(),
    schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: "JSON Schema 2020-12 of its settings; null: it says of none" }),
    error: z.string().optional(),
    /** The file cannot be loaded now: its last good version goes on. */
    kept: z.boolean().optional(),
    /** It has held up the whole gateway for more than a second; left out: nothing of it runs, on no number. */
    blocked: z
      .strictObject({
        times: z.int(),
        longest_ms: z.int(),
        route: z.string(),
        at: z.string(),
        left_out_until: z.string().nullable(),
      })
      .optional(),
  })
  .meta({ id: "Bot" });

/** With what holds on one number; `priority` is the one in force. */
const boundBot = bot
  .extend({
    enabled: z.boolean(),
    config: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: "BoundBot" });

/** What is said of one bot on one number; `priority` and `config` null or left out: the bot's own. */
const binding = z.object({
  id: text(1, 255),
  enabled: flag(),
  priority: integer(0, 100).nullish(),
  config: z.record(z.string(), z.unknown()).nullish(),
});
/** What is left out stays as it is. */
const bindingChange = binding.extend({ enabled: binding.shape.enabled.optional() });

const bindings = <B extends z.ZodType>(each: B) => z.object({ bots: list(each, 0, 1000) });

/** `GET /bots`: a bot that could not be loaded is listed with its `error`. */
export const listBots = endpoint({
  method: "GET",
  path: "/bots",
  access: bots,
  summary: "All bots",
  message: "Bots.",
  input: z.object({}),
  bounded,
  output: listOf(bot),
});

export const getDeviceBots = endpoint({
  method: "GET",
  path: "/devices/{number}/bots",
  access: bots,
  summary: "Which bots answer at a number",
  message: "Bots of the device.",
  input: z.object({}),
  bounded,
  output: listOf(boundBot),
});

export const putDeviceBots = endpoint({
  method: "PUT",
  path: "/devices/{number}/bots",
  access: bots,
  summary: "Set which bots answer at a number; a bot that is not listed does as it says itself",
  message: "Bots of the device saved.",
  errors: ["URL_NOT_ALLOWED"],
  input: bindings(binding),
  bounded,
  output: listOf(boundBot),
});

export const patchDeviceBots = endpoint({
  method: "PATCH",
  path: "/devices/{number}/bots",
  access: bots,
  summary: "Change single bots at a number; what is not named stays as it is",
  message: "Bots of the device saved.",
  errors: ["URL_NOT_ALLOWED"],
  input: bindings(bindingChange),
  bounded,
  output: listOf(boundBot),
});

const side = z.strictObject({ bot: z.string(), route: z.string() });

/** In the order of asking. `loser` null is the webhook. */
const routeTable = z
  .strictObject({
    routes: z.array(
      z.strictObject({
        bot: z.string(),
        priority: z.int(),
        chats: z.array(z.string()),
        kind: z.string(),
        pattern: z.string(),
      }),
    ),
    conflicts: z.array(
      z.strictObject({ kind: z.string(), winner: side, loser: side.nullable(), text: z.string() }),
    ),
  })
  .meta({ id: "BotRoutes" });

export const listBotRoutes = endpoint({
  method: "GET",
  path: "/bots/routes",
  access: bots,
  summary:
    "Routes of the bots that are on for every number, in the order of asking, and where they get in each other's way",
  message: "Routes.",
  input: z.object({}),
  bounded: boundedRoutes,
  output: record(routeTable),
});

export const listDeviceRoutes = endpoint({
  method: "GET",
  path: "/devices/{number}/bots/routes",
  access: bots,
  summary: "Routes of a number's bots in the order of asking, and where they get in each other's way",
  message: "Routes of the device.",
  input: z.object({}),
  bounded: boundedRoutes,
  output: record(routeTable),
});

export const reloadBots = endpoint({
  method: "POST",
  path: "/admin/bots/reload",
  access: { by: "operator" },
  summary:
    "Read the bots of BOTS_DIR again; connections stay, and a file that is broken now keeps its last good version",
  message: "Bots loaded again.",
  errors: ["UNAVAILABLE"],
  input: z.object({}),
  bounded,
  output: listOf(bot),
});

const forkAnswers = z.array(z.strictObject({ who: z.enum(["bot", "webhook", "sent"]), text: z.string() }));

const forked = z
  .strictObject({
    turns: z.array(
      z.strictObject({
        who: z.enum(["user", "owner", "time"]),
        /** In a group: who writes. */
        as: z.string().nullable(),
        said: z.array(z.string()),
        /** What was answered then; null: this was said in the sandbox alone. */
        before: forkAnswers.nullable(),
        /** What is answered now; null: the sandbox ended before. */
        now: forkAnswers.nullable(),
        same: z.boolean(),
      }),
    ),
    /** `folder`: its file in BOTS_DIR · `sources`: its file in bots/ · `build`: as it runs in the gateway. */
    bots: z.array(z.strictObject({ id: z.string(), from: z.enum(["folder", "sources", "build"]) })),
    /** Nothing earlier of the chat is stored. */
    complete: z.boolean(),
    /** Turns that are answered otherwise now. */
    differences: z.int().min(0),
    /** What could not be done again, or went wrong. */
    troubles: z.array(z.string()),
    logged: z.array(z.string()),
    /** Text of a `.story.yaml`, without the people it was with; "" when there is none. */
    story: z.string(),
  })
  .meta({ id: "Fork" });

const MOST_LINES = 50;

/** `POST /bots/fork`: bots as their files are now, in a process that reaches nothing. */
export const forkConversation = endpoint({
  method: "POST",
  path: "/bots/fork",
  access: bots,
  summary:
    "Tell a stored conversation again to the bots as their files are now, in a sandbox, and go on with it; nothing leaves and nothing is stored",
  message: "Told again.",
  errors: ["SENDER_NOT_FOUND", "NOT_FOUND", "UNAVAILABLE"],
  bounded: `as many turns as \`last\` and \`says\` ask for.`,
  input: z.object({
    sender: ownNumber(),
    chat: text(1, 255),
    /** WhatsApp's id of the last message that is told; default: the newest. */
    message: text(1, 255).optional(),
    /** At most so many stored messages, the newest. */
    last: integer(1, 200).default(100),
    /** What the person does then: a text, votes, or time that passes. */
    says: list(
      z.union([
        text(1, 4096),
        z.strictObject({ vote: list(text(1, 255), 0, 12) }),
        z.strictObject({ after: text(2, 10) }),
      ]),
      0,
      MOST_LINES,
    ).default([]),
    /** Ids; default: those that are on at the number. */
    bots: list(text(1, 255), 1, 50).optional(),
  }),
  output: record(forked),
});
