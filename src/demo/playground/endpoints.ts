import { z } from "zod";
import type { Playground } from "./playground.ts";
import { FAULTS } from "./view.ts";

/** What an endpoint gets of its request. */
interface Asked {
  /** Parts of the path that are named in it. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** As `input` has read it. */
  body: unknown;
  /** The body of endpoints that take bytes. */
  bytes: Buffer;
  /** The host by which the browser has reached us, without port. */
  hostname: string;
}

/** One thing that the page can ask for. */
export interface Endpoint {
  method: "GET" | "POST" | "PUT";
  /** Below `/playground/api`; `:name` is a parameter. */
  path: string;
  input?: z.ZodType;
  takesBytes?: true;
  run(playground: Playground, asked: Asked): Promise<unknown>;
}

const TEXT = z.string().min(1).max(65_536);
const NAME = z.string().trim().min(1).max(40);
const NUMBER = z.string().regex(/^\d{5,15}$/);
const CHAT = z.string().regex(/^(?:\d{5,15}|[\d-]{5,40}@g\.us)$/);
const ID = z.string().min(1).max(128);

const WRITING = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("text"), text: TEXT, quoted: ID.optional() }),
  z.object({ kind: z.literal("file"), file: ID, caption: z.string().max(1_024).optional() }),
  z.object({
    kind: z.literal("location"),
    latitude: z.number().min(-90).max(90),
    longitude: z.number().min(-180).max(180),
    name: NAME.optional(),
  }),
  z.object({ kind: z.literal("contact"), name: NAME.regex(/^[^\r\n;:]+$/), number: NUMBER }),
  z.object({
    kind: z.literal("poll"),
    question: z.string().trim().min(1).max(255),
    options: z.array(z.string().trim().min(1).max(100)).min(2).max(12),
    several: z.boolean(),
  }),
]);
const MESSAGE = z.object({ chat: CHAT, message: WRITING });
const ACT = z.discriminatedUnion("act", [
  z.object({ act: z.literal("react"), id: ID, emoji: z.string().max(16) }),
  z.object({ act: z.literal("edit"), id: ID, text: TEXT }),
  z.object({ act: z.literal("revoke"), id: ID }),
  z.object({ act: z.literal("vote"), id: ID, options: z.array(z.string().max(100)).max(12) }),
  z.object({ act: z.literal("played"), id: ID }),
  z.object({ act: z.literal("typing"), chat: CHAT, on: z.boolean() }),
]);
const NEW_PHONE = z.object({ name: NAME, kind: z.enum(["number", "lid", "hidden"]) });
const NEW_GROUP = z.object({ subject: NAME, members: z.array(NUMBER).min(1).max(12) });
const ON = z.object({ on: z.boolean() });
const STORY = z.object({
  phone: NUMBER,
  chat: CHAT,
  title: z.string().trim().max(120),
  file: z.string().regex(/^[a-z0-9][a-z0-9-]{0,60}$/, "A story's name has small letters, digits and dashes."),
});
const SIGN_IN = z.object({ as: z.enum(["account", "operator"]) });

/** An endpoint whose body is what the schema says. */
const taking = <Schema extends z.ZodType>(
  method: "POST" | "PUT",
  path: string,
  input: Schema,
  run: (playground: Playground, body: z.output<Schema>, asked: Asked) => Promise<unknown>,
): Endpoint => ({
  method,
  path,
  input,
  run: (playground, asked) => run(playground, asked.body as z.output<Schema>, asked),
});
const doing = (path: string, run: (playground: Playground) => Promise<unknown>): Endpoint => ({
  method: "POST",
  path,
  run: (playground) => run(playground),
});

/** Everything that the page can ask for, but the events. */
export const ENDPOINTS: Endpoint[] = [
  taking("POST", "/phones", NEW_PHONE, (one, { name, kind }) => one.phones.add(name, kind)),
  taking("POST", "/groups", NEW_GROUP, (one, { subject, members }) => one.phones.addGroup(subject, members)),
  taking("POST", "/phones/:phone/messages", MESSAGE, async (one, { chat, message }, { params }) => ({
    id: await one.phones.write(params["phone"]!, chat, message),
  })),
  taking("POST", "/phones/:phone/acts", ACT, (one, act, { params }) => one.phones.act(params["phone"]!, act)),
  taking("PUT", "/phones/:phone/call", ON, (one, { on }, { params }) =>
    on ? one.calls.begin(params["phone"]!) : one.calls.end(params["phone"]!),
  ),
  taking("PUT", "/phones/:phone/online", ON, (one, { on }, { params }) =>
    one.phones.setOnline(params["phone"]!, on),
  ),
  {
    method: "GET",
    path: "/phones/:phone/media/:id",
    run: async (one, { params }) => ({
      bytes: (await one.phones.mediaOf(params["phone"]!, params["id"]!)).bytes,
    }),
  },
  {
    method: "POST",
    path: "/files",
    takesBytes: true,
    run: (one, { query, bytes }) =>
      one.files.keep(query.get("name") ?? "file", query.get("type") ?? "application/octet-stream", bytes),
  },
  doing("/link", async (one) => one.linking.want()),
  doing("/scan", (one) => one.linking.scan()),
  doing("/passkey", (one) => one.linking.answerPasskey()),
  doing("/unlink", (one) => one.linking.unlink()),
  doing("/replace", (one) => one.replace()),
  taking("PUT", "/faults/:name", ON, (one, { on }, { params }) =>
    one.setFault(z.enum(FAULTS).parse(params["name"]), on),
  ),
  doing("/kill", (one) => one.kill()),
  doing("/verdict", (one) => one.judge()),
  {
    method: "GET",
    path: "/messages/:id/trace",
    run: (one, { params }) => one.traceOf(params["id"]!),
  },
  taking("POST", "/stories", STORY, (one, story) => one.saveStory(story)),
  taking("POST", "/console", SIGN_IN, (one, { as }, { hostname }) => one.signIn(as, hostname)),
];
