import type { Draft } from "../../model/content/drafts.ts";
import type { Incoming } from "../../model/messages.ts";
import { replyOf } from "../chats/replies.ts";
import type { Reply } from "../types.ts";
import type { Happened } from "../../path/happened.ts";
import type { Said, Story, StoryLine, StoryReply } from "./story.ts";

/** How the lines of a story are told. */
export interface Telling {
  /** Shorter pauses are left out. Milliseconds. */
  shortestPauseMs: number;
  /** Whether everybody is named who writes. */
  isGroup: boolean;
}

type Came = Extract<Happened, { kind: "came" }>;
type Left = Extract<Happened, { kind: "left" }>;

/**
 * Tells what happened as a story: answers stand after the message that they answer, texts that were answered together are
 * written together, and pauses are written down.
 */
export function linesOf(all: readonly Happened[], telling: Telling): StoryLine[] {
  // What answers nothing that is told here belongs to what was before.
  const happened = all.slice(all.findIndex(({ kind }) => kind === "came"));
  const texts = new Map(happened.map((one) => [idOf(one), textOf(one)]));
  const answers = answersByMessage(happened);
  const taken = new Set<Happened>();
  const lines: StoryLine[] = [];
  let clock = happened[0]?.at ?? 0;

  const passTo = (at: number): void => {
    const pause = floorOf(at - clock);
    if (pause < telling.shortestPauseMs) return;
    lines.push({ who: "time", ms: pause });
    clock = at;
  };
  const say = (left: Left): void => {
    taken.add(left);
    lines.push({ who: answererOf(left.origin), reply: replyToTell(replyOfDraft(left.draft)) });
  };
  for (const one of happened) {
    if (taken.has(one)) continue;
    passTo(one.at);
    if (one.kind === "left") {
      say(one);
      continue;
    }
    const together = togetherWith(one, happened);
    for (const each of together) taken.add(each);
    lines.push(lineOf(together, texts, telling));
    for (const left of together.flatMap(({ id }) => answers.get(id) ?? [])) say(left);
  }
  return lines;
}

/** The story of what happened, without what only its author knows. */
export function storyOf(happened: readonly Happened[], telling: Telling, title: string): Story {
  const [first] = happened;
  const by = happened.flatMap((one) => (one.kind === "came" ? [one.by] : [one.origin]));
  const bots = by.filter((name) => name?.startsWith("bot:")).map((name) => name!.slice("bot:".length));
  return {
    title,
    bots: [...new Set(bots)].toSorted(),
    ...(first && { now: new Date(first.at).toISOString() }),
    outside: [],
    lines: linesOf(happened, telling),
  };
}

const idOf = (one: Happened): string => (one.kind === "came" ? one.message.id : one.waId);
const textOf = (one: Happened): string =>
  one.kind === "came" ? one.message.text : replyOfDraft(one.draft).text;
const replyOfDraft = (draft: Draft): Reply => replyOf({ id: "", jid: "", draft });

function answersByMessage(happened: readonly Happened[]): Map<number, Left[]> {
  const answers = new Map<number, Left[]>();
  for (const one of happened)
    if (one.kind === "left" && one.answers !== null)
      answers.set(one.answers, [...(answers.get(one.answers) ?? []), one]);
  return answers;
}

/** All texts that a bot answered with one answer, the first one first. */
function togetherWith(first: Came, happened: readonly Happened[]): Came[] {
  const into = first.mergedInto ?? first.message.id;
  const together = happened.filter(
    (one): one is Came =>
      one.kind === "came" && (one.mergedInto === into || (one.message.id === into && one !== first)),
  );
  const all = [first, ...together.filter((one) => one !== first)];
  return all.length > 1 ? all.toSorted((one, other) => one.id - other.id) : all;
}

/** Whole minutes and seconds; never longer than it was, so that nothing becomes due that did not. */
function floorOf(ms: number): number {
  const unit = ms >= 600_000 ? 60_000 : 1000;
  return Math.floor(ms / unit) * unit;
}

function answererOf(origin: string): "bot" | "webhook" | "sent" {
  if (origin.startsWith("bot:")) return "bot";
  return origin === "webhook" ? "webhook" : "sent";
}

function lineOf(together: Came[], texts: Map<string, string>, { isGroup }: Telling): StoryLine {
  const [{ message }] = together as [Came];
  if (message.fromMe) return { who: "owner", text: message.text };
  const as = isGroup ? message.pushName || message.number : null;
  return { who: "user", as, says: together.map((one) => saidToTell(one.message, texts)) };
}

function saidToTell(message: Incoming, texts: Map<string, string>): Said {
  const { type, text, quoted, media, poll, reaction, location, contacts } = message;
  if (media) return { kind: "file", file: media.kind, caption: text, name: media.fileName };
  if (type === "text")
    return { kind: "text", text, quote: quoted === null ? null : (texts.get(quoted.id) ?? quoted.text) };
  if (type === "poll_vote" && poll?.vote) return { kind: "vote", options: poll.vote.selected };
  if (type === "reaction") return { kind: "react", emoji: reaction?.emoji ?? text };
  if (type === "edit") return { kind: "edit", text };
  if (location) return { kind: "location", ...location };
  const [contact] = contacts ?? [];
  if (contact !== undefined) return { kind: "card", name: contact.name, numbers: contact.numbers };
  return { kind: "other", type };
}

/** What a person is shown. */
export function replyToTell({ kind, text, poll, file, about }: Reply): StoryReply {
  if (poll !== null) return { kind: "poll", ...poll };
  if (file !== null) return { kind: "file", file: file.kind, caption: text, name: file.name ?? "" };
  if (kind === "reaction") return { kind: "react", emoji: text };
  return { kind: "text", text, quotes: about !== null };
}
