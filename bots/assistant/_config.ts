import { url, type AnyContext } from "parley";
import { z } from "zod";

const argument = z.object({
  type: z.enum(["string", "number", "boolean"]),
  description: z.string().max(300).optional(),
  /** For a string: the only values that it may have. */
  choices: z.array(z.string().max(100)).min(1).max(50).optional(),
  required: z.boolean().default(false),
});

/** A flow of another bot of this number that the model may begin. What is not listed, it cannot begin. */
const tool = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,50}$/),
  description: z.string().min(1).max(500),
  bot: z.string().min(1).max(200),
  flow: z.string().min(1).max(64),
  arguments: z.record(z.string().regex(/^[a-zA-Z]\w{0,50}$/), argument).default({}),
});

/** Settings of the assistant. `PUT /devices/{number}/bots` refuses what does not fit; they are sealed where they are stored. */
export const config = z.object({
  /** Where the chat API is; `/chat/completions` is added. */
  url: url().default("https://api.openai.com/v1"),
  /** Without it nobody is answered. A server that wants none gets any word. */
  key: z.string().min(1).max(500).optional(),
  model: z.string().min(1).max(200).default("gpt-4o-mini"),
  /** What the model is told before every conversation. It is no secret: whoever asks well may hear it. */
  instructions: z
    .string()
    .max(16_000)
    .default(
      "You answer customers of a shop on WhatsApp. Be short and friendly. Say so when you do not know.",
    ),
  /** How many messages of the chat the model sees. */
  messages: z.int().min(1).max(100).default(20),
  /** Longest answer, in the model's tokens. */
  maxTokens: z.int().min(16).max(8_192).default(500),
  /** Seconds that one request may take. */
  timeout: z.int().min(1).max(60).default(60),
  perPersonAndDay: z.int().min(1).max(10_000).default(50),
  /** For all persons together: what a day may cost. */
  perDay: z.int().min(1).max(1_000_000).default(1_000),
  tools: z.array(tool).max(20).default([]),
  /** Digits of whoever is told when the model is away. */
  owner: z
    .string()
    .regex(/^\d{5,20}$/)
    .optional(),
  /** Model that writes down voice notes, at `/audio/transcriptions`; without it they are left to others. */
  voice: z.string().min(1).max(200).optional(),
  locale: z.enum(["en", "es", "id", "pt"]).optional(),
});

/** Settings as they are read. */
export type Config = z.output<typeof config>;
/** A flow that the model may begin. */
export type Tool = z.output<typeof tool>;
/** What a handler of the assistant is given. */
export type Ctx = Omit<AnyContext, "config"> & { readonly config: Config };
