import type { FailpointName } from "../../src/model/failpoint.ts";
import { ACTION_POINTS } from "./action-points.ts";
import { ok, until } from "./apart.ts";
import { ANA, BEN, SHOP, type Arena } from "./arena.ts";
import { crashWhileImporting } from "./crash-while-importing.ts";
import { crashWhileLinking } from "./crash-while-linking.ts";
import { crashWhileMigrating } from "./crash-while-migrating.ts";
import { shuffled } from "./shuffled.ts";
import { heldBack, missedDevice, tokenGiven } from "./held-points.ts";
import { PICTURE } from "./hook.ts";
import type { Verdict } from "../../src/demo/judge/judge.ts";

/** Between 0 and 1, from the seed of the drill. */
export type Random = () => number;

/** One row of the table. */
export interface CrashPoint {
  /** Names the row. */
  name: string;
  failpoint: FailpointName;
  /** Where the process ends, in words. */
  where: string;
  /** It is on the everyday way alone: there is no such place when that is off. */
  isEveryday?: boolean;
  /** One crash there, the start after it, and what the judge says of it. */
  run(arena: Arena, random: Random): Promise<Verdict>;
}

/** In so many parts the first pre-keys of a number are stored. */
const PRE_KEY_COMMITS = 14;

/** Does what leads to the place, once. */
export type Provoke = (arena: Arena, random: Random, round?: number) => Promise<void>;

/** Whether the dead process was where it should have been, from what it left behind. */
type Proof = (arena: Arena) => Promise<boolean>;

/** A row whose crash happens while messages go in and out. */
function during(
  provoke: Provoke,
  failpoint: FailpointName,
  where: string,
  {
    name = failpoint as string,
    passes = 2,
    prepare = undefined as Provoke | undefined,
    proof = undefined as Proof | undefined,
  } = {},
): CrashPoint {
  return {
    name,
    failpoint,
    where,
    async run(arena, random) {
      await prepare?.(arena, random);
      arena.arm(failpoint, 1 + Math.floor(random() * passes));
      await arena.expectDeath(failpoint, (round) => provoke(arena, random, round));
      if (proof) await until(`what proves the place "${name}"`, () => proof(arena));
      await arena.revive();
      return arena.settle();
    },
  };
}

/** WhatsApp has the receipt of a message that is stored and not handled. */
const acknowledgedAndPending: Proof = async ({ world: { sim }, left }) => {
  const pending = new Set(left("SELECT wa_id AS id FROM inbox WHERE state = 'pending'"));
  const entries = await sim.transcript({ number: SHOP, direction: "to_companion" });
  return entries.some(({ decrypted, id }) => decrypted && pending.has(id));
};

/** The webhook has the event of a message that is not handled. */
const askedOnly: Proof = async ({ hook, left }) => {
  const pending = new Set(left("SELECT wa_id AS id FROM inbox WHERE state = 'pending'"));
  return hook.events.some(({ id }) => pending.has(id));
};

/** A reply is in the outbox, and WhatsApp has nothing of it. */
const storedOnly: Proof = async ({ world: { sim }, left }) => {
  const entries = await sim.transcript({ number: SHOP, direction: "to_contact" });
  const written = new Set(entries.map(({ id }) => id));
  return left("SELECT wa_id AS id FROM outbox WHERE state = 'queued'").some((id) => !written.has(id));
};

/** A message is at WhatsApp that the outbox has not sent. */
const writtenOnly: Proof = async ({ world: { sim }, left }) => {
  const queued = new Set(left("SELECT wa_id AS id FROM outbox WHERE state = 'queued'"));
  const entries = await sim.transcript({ number: SHOP, direction: "to_contact" });
  return entries.some(({ id }) => queued.has(id));
};

/** Two chats and a group, a bot and the webhook, a picture, a send by REST: in an order that the seed decides. */
const conversation: Provoke = async ({ world: { sim }, group, send }, random) => {
  const steps = [
    () => sim.sendText(ANA, SHOP, "order"),
    () => sim.sendText(ANA, SHOP, "ask for tea"),
    () => sim.sendText(BEN, SHOP, "ask for milk"),
    () => sim.sendText(ANA, group, "ask all of you"),
    () => sim.send(BEN, SHOP, { kind: "image", bytes: PICTURE, caption: "ask about this" }),
    async () => send("/send-message", { number: BEN, message: "your table is ready" }),
  ];
  for (const step of shuffled(steps, random)) await step();
};

const sending: Provoke = async ({ send, group }, random) => {
  const texts = ["one", "two", "three"].map((message) => () => {
    send("/send-message", { number: random() < 0.5 ? ANA : BEN, message });
  });
  const toGroup = () => send("/send-message", { number: group, message: "to all of you" });
  for (const step of shuffled([...texts, toGroup], random)) step();
};

const sendingFiles: Provoke = async ({ send, hook }) => {
  for (const number of [ANA, BEN])
    send("/send-media", { number, media_type: "image", url: hook.pictureUrl, caption: "the menu" });
};

const posting: Provoke = async ({ world: { sim }, channel }) => {
  await sim.postInChannel(channel, "two posts that are alike");
  await sim.postInChannel(channel, "two posts that are alike");
};

/** The vote of each round names the poll that was sent before the crash. */
const voting: Provoke = async ({ world: { sim } }, random) => {
  const polls = (await sim.messages(ANA, { from: SHOP })).filter(({ kind }) => kind === "poll");
  await sim.votePoll(ANA, polls.at(-1)!.id, [random() < 0.5 ? "tea" : "milk"]);
};

const sendPoll: Provoke = async ({ world, send }) => {
  const count = (await world.sim.messages(ANA, { from: SHOP })).filter(({ kind }) => kind === "poll").length;
  send("/send-poll", { number: ANA, name: "What would you like?", option: ["tea", "milk"] });
  await until("the poll is at Ana's", async () => {
    const polls = (await world.sim.messages(ANA, { from: SHOP })).filter(({ kind }) => kind === "poll");
    return polls.length > count;
  });
};

/** Three messages that are due at once, and one that is sent meanwhile, elsewhere. */
const falling: Provoke = async ({ send, group }, random, round) => {
  if (round !== 0) return;
  const send_at = String(Math.floor(Date.now() / 1_000) + 4);
  for (const message of ["later", "later, too", "last"])
    send("/send-message", { number: random() < 0.5 ? ANA : BEN, message, send_at });
  send("/send-message", { number: group, message: "at once" });
};

const ending: Provoke = async (arena, random) => {
  await conversation(arena, random);
  arena.world.gateway.signal("SIGTERM");
};

async function rotate({ world: { gateway, key } }: Arena): Promise<string> {
  return ok(await gateway.post(`/devices/${SHOP}/webhook/rotate`, {}, { key })).body["secret"];
}

const rotating: Provoke = async (arena) => void (await rotate(arena));

/**
 * Rotated, killed, rotated again by the caller who heard no answer: what is told meanwhile must fit the secret that the
 * customer's server has, until it is given the new one.
 */
const duringRotation = (failpoint: FailpointName, where: string): CrashPoint => ({
  name: failpoint,
  failpoint,
  where,
  async run(arena, random) {
    arena.arm(failpoint);
    await arena.expectDeath(failpoint, () => rotating(arena, random));
    await arena.revive();
    const secret = await rotate(arena);
    await conversation(arena, random);
    const verdict = await arena.settle();
    arena.hook.secret = secret;
    return verdict;
  },
});

/** Then the chat has been held up by something else, and is asked again. */
const WRITTEN_MS = 15_000;

export const POINTS: CrashPoint[] = [
  during(conversation, "before-receive-commit", "decrypted; neither ratchet nor inbox row stored"),
  during(conversation, "after-receive-commit", "ratchet and inbox row stored; no receipt yet"),
  during(conversation, "after-receipt", "receipt sent, inbox row stored; not handled", {
    proof: acknowledgedAndPending,
  }),
  during(conversation, "in-handler", "inside a bot's handler", { passes: 1 }),
  during(conversation, "before-reply-commit", "answered; nothing of it stored"),
  during(conversation, "after-reply-commit", "replies stored; not sent"),
  {
    ...during(conversation, "after-ahead-commit", "encrypted by the commit that stores it; not sent", {
      passes: 1,
      proof: storedOnly,
    }),
    isEveryday: true,
  },
  heldBack("held-429", "encrypted ahead, refused with 429; not encrypted anew", ({ sim }) =>
    sim.faults.errorAck({ number: SHOP, to: ANA, code: 429 }),
  ),
  heldBack("held-479", "encrypted ahead, for other devices than now; not encrypted anew", ({ sim }) =>
    sim.faults.errorAck({ number: SHOP, to: ANA, code: 479 }),
  ),
  heldBack(
    "held-line",
    "encrypted ahead, the line lost before its ack; not encrypted anew",
    async ({ sim }) => {
      const written = { number: SHOP, device: 1, direction: "in", tag: "message" } as const;
      // Neither an ack nor a receipt, be it of the shop's own phone, says that it was taken; the line is lost once it was written.
      await sim.faults.holdDeliveries({ number: ANA });
      await sim.faults.holdDeliveries({ number: SHOP, device: 0 });
      await sim.faults.delayAcks({ number: SHOP, ms: 600_000 });
      const before = await sim.countStanzas(written);
      return async () => {
        await until("a reply is written", async () => (await sim.countStanzas(written)) > before, WRITTEN_MS);
        await sim.faults.dropSocket({ number: SHOP });
      };
    },
  ),
  during(conversation, "after-webhook-request", "webhook asked; no answer yet", { proof: askedOnly }),
  during(conversation, "after-webhook-answer", "webhook has answered; nothing of it stored", {
    proof: askedOnly,
  }),
  during(sending, "after-accept", "send stored; its caller not told"),
  during(falling, "before-due-commit", "a message is due; not queued", { passes: 1 }),
  during(falling, "after-due-commit", "a due message queued; not sent", { passes: 1 }),
  ...ACTION_POINTS,
  during(conversation, "before-encrypt", "taken from the outbox; not encrypted"),
  during(conversation, "after-encrypt-commit", "encrypted, ratchet stored; not written"),
  during(sendingFiles, "after-upload", "file uploaded; not noted", { passes: 1 }),
  during(conversation, "before-ack", "written to WhatsApp; no ack", { proof: writtenOnly }),
  during(conversation, "after-ack", "ack seen; not stored", { proof: writtenOnly }),
  during(conversation, "before-outcome-commit", "outcomes and receipts gathered; not stored", {
    passes: 1,
    proof: writtenOnly,
  }),
  during(conversation, "after-outcome-commit", "outcomes and receipts stored together"),
  missedDevice,
  tokenGiven(conversation),
  during(conversation, "after-delivery-receipt", "delivery receipt seen; not stored"),
  during(posting, "after-receive-commit", "a channel's post stored; not acknowledged", {
    name: "post-stored",
  }),
  during(voting, "before-receive-commit", "a vote read; not stored", {
    name: "vote-read",
    passes: 1,
    prepare: sendPoll,
  }),
  during(voting, "after-receive-commit", "a vote stored; not acknowledged", {
    name: "vote-stored",
    passes: 1,
    prepare: sendPoll,
  }),
  during(ending, "in-drain", "SIGTERM; killed while it drains", { passes: 1 }),
  duringRotation("before-secret-commit", "a webhook's new secret made; not stored"),
  duringRotation("after-secret-commit", "a webhook's new secret stored; not told"),
  crashWhileLinking("before-creds-commit", "the phone has scanned; credentials not stored"),
  crashWhileLinking("after-creds-commit", "the phone has scanned; credentials stored"),
  crashWhileLinking("before-pre-keys-commit", "new pre-keys made; not stored", PRE_KEY_COMMITS),
  crashWhileLinking("after-pre-keys-commit", "new pre-keys stored; not uploaded", PRE_KEY_COMMITS),
  crashWhileImporting(conversation),
  crashWhileMigrating("mid-migration", "between two statements of an upgrade"),
];
