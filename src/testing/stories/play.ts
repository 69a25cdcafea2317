import { NetworkBlockedError, type StubAnswer } from "../network/network.ts";
import type { TestBots, TestChatOptions } from "../options.ts";
import { createPeople } from "../chats/people.ts";
import { buildStage, type Stage } from "../gateway/stage.ts";
import type { Conversation } from "../types.ts";
import { replyToTell } from "./record.ts";
import type { OutsideAnswers, Said, Story, StoryLine } from "./story.ts";
import { transcriptOf } from "./transcript.ts";

/** The result of playing a story. */
export interface Played {
  /** What people said, and the answers that they get now. */
  lines: StoryLine[];
  /** What could not be played again, or went wrong, in sentences. */
  troubles: string[];
  /** Errors and warnings that were logged meanwhile. An answer of `outside:` may have been meant to fail. */
  logged: string[];
}

/** Options for playing a story, besides those in its file. */
export interface PlayOptions extends Pick<
  TestChatOptions,
  "config" | "locales" | "patienceMs" | "takeoverMinutes" | "botTimeoutMs"
> {
  /** Answers requests that the story has no answer for. */
  outside?: readonly OutsideAnswers[];
}

/**
 * Plays a story again with these bots, and records the answers that they give now. Nothing reaches the network: the story's
 * answers serve the bots' requests, and a request without one is a trouble.
 *
 * @throws {TypeError} when a bot cannot be used
 */
export async function playStory(
  story: Story,
  bots: TestBots,
  { outside = [], ...options }: PlayOptions = {},
): Promise<Played> {
  const { now, config } = story;
  const webhook = webhookOf(story);
  const stage = await buildStage(
    bots,
    {
      ...(config && { config }),
      ...options,
      allowErrors: true,
      ...(now !== undefined && { now }),
      ...webhook.options,
    },
    () => null,
  );
  try {
    answerOutside(stage, [...story.outside, ...outside]);
    return await play(stage, story, webhook);
  } finally {
    await stage.close();
  }
}

async function play(stage: Stage, story: Story, webhook: Webhook): Promise<Played> {
  const { world } = stage;
  const lines: StoryLine[] = sentAfter(story, -1);
  const troubles: string[] = [];
  const { chat, of } = conversationsOf(stage, story);
  let seen = 0;
  const run = async (what: string, act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      troubles.push(`At “${what}”: ${sentenceOf(error as Error)}`);
    }
  };
  for (const [index, line] of story.lines.entries()) {
    if (line.who !== "user" && line.who !== "owner" && line.who !== "time") continue;
    lines.push(line);
    webhook.asked = false;
    await run(describe(line), async () => {
      if (line.who === "time") await world.advance(line.ms);
      else if (line.who === "owner") await chat.ownerTypes(line.text);
      else await say(of(line.as), line.says);
    });
    const replies = chat.replies();
    for (const reply of replies.slice(seen)) lines.push({ who: "bot", reply: replyToTell(reply) });
    seen = replies.length;
    lines.push(...webhook.answersAfter(story, index), ...sentAfter(story, index));
  }
  return { lines, troubles, logged: [...stage.complaints()] };
}

/** A story has another place for answers than a test. */
function sentenceOf(error: Error): string {
  if (!(error instanceof NetworkBlockedError)) return error.message;
  return `a bot asked for ${error.request}, and nothing under \`outside:\` answers that.`;
}

const describe = (line: StoryLine): string => transcriptOf([line])[0]!;

/** Everybody who writes in a story. */
function conversationsOf(
  stage: Stage,
  { group, person }: Story,
): { chat: Conversation; of(name: string | null): Conversation } {
  const people = createPeople(stage, stage.rooms);
  if (group === undefined) {
    const chat = people.as({ name: person ?? "Ana" });
    return { chat, of: () => chat };
  }
  const room = people.group(group.name, group.members);
  const of = (name: string | null): Conversation => (name === null ? room : room.as(name));
  return { chat: room, of };
}

/** Several at once are texts; what else stands among them follows one by one. */
async function say(chat: Conversation, says: readonly Said[]): Promise<void> {
  const texts = says.flatMap((one) => (one.kind === "text" ? [one.text] : []));
  if (says.length > 1 && texts.length === says.length) return chat.burst(texts);
  for (const one of says) await sayOne(chat, one);
}

async function sayOne(chat: Conversation, one: Said): Promise<void> {
  switch (one.kind) {
    case "text": {
      const quote = one.quote === null ? undefined : quotedIn(chat, one.quote);
      return chat.user({ text: one.text, ...(quote !== undefined && { quote }) });
    }
    case "file":
      return chat.media(one.file, { caption: one.caption, fileName: one.name });
    case "vote":
      return chat.vote(...one.options);
    case "react":
      return chat.react(one.emoji);
    case "edit":
      return chat.edit(one.text);
    case "location": {
      const { latitude, longitude, name, address } = one;
      return chat.location({
        latitude,
        longitude,
        ...(name !== null && { name }),
        ...(address !== null && { address }),
      });
    }
    case "card":
      return chat.card(one.name, ...one.numbers);
    case "other":
      return;
  }
}

/** The last reply with this text. A text that nobody has said is quoted as one that is not known. */
const quotedIn = (chat: Conversation, text: string): string =>
  chat.replies().findLast((reply) => reply.text === text)?.id ?? "UNKNOWN";

interface Webhook {
  options: Pick<TestChatOptions, "webhook">;
  /** Since the last line that somebody said. */
  asked: boolean;
  answersAfter(story: Story, index: number): StoryLine[];
}

/** The webhook of a story answers what it answered, when it is asked; a message that a bot takes now does not reach it. */
function webhookOf(story: Story): Webhook {
  const self: Webhook = {
    asked: false,
    options: {},
    answersAfter: (from, index) => (self.asked ? following(from, index, "webhook") : []),
  };
  if (story.lines.some(({ who }) => who === "webhook"))
    self.options = {
      webhook() {
        self.asked = true;
        return {};
      },
    };
  return self;
}

/** What other systems sent is nobody's answer: it stands where it stood. */
const sentAfter = (story: Story, index: number): StoryLine[] => following(story, index, "sent");

/** Lines of this one after the line at `index`, until somebody says something again. */
function following({ lines }: Story, index: number, who: "webhook" | "sent"): StoryLine[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => line.who === "user" || line.who === "owner" || line.who === "time");
  return rest.slice(0, end === -1 ? rest.length : end).filter((line) => line.who === who);
}

function answerOutside({ stubs }: Stage, outside: readonly OutsideAnswers[]): void {
  // Of several that fit, the last one given counts; a file is read from the top.
  for (const { url, method, answers } of outside.toReversed()) {
    let next = 0;
    const methodName = method?.toUpperCase();
    stubs.add(url, () => readAnswer(answers[Math.min(next++, answers.length - 1)]), methodName);
  }
}

function readAnswer(answer: unknown): StubAnswer {
  if (typeof answer !== "object" || answer === null || !("status" in answer)) return answer as StubAnswer;
  const { status, body = null, ...rest } = answer as { status: unknown; body?: unknown };
  if (typeof status !== "number" || Object.keys(rest).length > 0) return answer;
  return typeof body === "string" ? new Response(body, { status }) : Response.json(body, { status });
}
