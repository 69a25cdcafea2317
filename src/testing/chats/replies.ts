import { partsOfDraft } from "../../conversations/parts.ts";
import { kindOf, textOfDraft, type Draft } from "../../model/content/drafts.ts";
import type { Expected, Reply } from "../types.ts";
import type { Sent } from "../gateway/wire.ts";

/** A sent message as tests read it. */
export function replyOf({ id, draft }: Sent): Reply {
  const reply: Reply = {
    id,
    kind: kindOf(draft),
    text: "",
    poll: null,
    file: null,
    location: null,
    contacts: null,
    about: draft.quote?.id ?? null,
    mentions: (draft.mentions ?? []).map(digits),
    ...mannerOf(draft),
  };
  switch (draft.kind) {
    case "text":
      return { ...reply, text: draft.text };
    case "poll": {
      const { name: question, options, selectable } = draft;
      return { ...reply, text: question, poll: { question, options, multiple: selectable === 0 } };
    }
    case "reaction":
    case "edit":
    case "revoke":
      return { ...reply, text: textOfDraft(draft), about: draft.target.id };
    case "location":
    case "contact":
      return { ...reply, text: textOfDraft(draft), ...sharedParts(draft, id) };
    default:
      return {
        ...reply,
        text: draft.caption ?? "",
        file: { kind: draft.kind === "forward" ? draft.of : draft.kind, name: draft.fileName ?? null },
      };
  }
}

/** How it was said, as far as the bot has said so. */
function mannerOf({
  sendAt,
  notAfter,
  viewOnce,
  forwarded,
}: Draft): Pick<Reply, "sendAt" | "expires" | "viewOnce" | "forwarded"> {
  return {
    ...(sendAt !== undefined && { sendAt: new Date(sendAt) }),
    ...(notAfter !== undefined && { expires: new Date(notAfter) }),
    ...(viewOnce && { viewOnce }),
    ...(forwarded !== undefined && { forwarded: true as const }),
  };
}

function sharedParts(draft: Draft, id: string): Pick<Reply, "location" | "contacts"> {
  const { location = null, contacts = null } = partsOfDraft(draft, id);
  return { location, contacts };
}

const digits = (id: string): string => id.replace(/@s\.whatsapp\.net$/, "");

/** Whether a reply is as expected. A function decides by itself; a text must be equal, whole. */
export function fits(reply: Reply, expected: Expected): boolean {
  if (typeof expected === "function") return expected(reply);
  if (typeof expected === "string") return reply.text === expected;
  if (expected instanceof RegExp) return new RegExp(expected.source, expected.flags).test(reply.text);
  const { kind, text, options } = expected;
  return (
    (kind === undefined || reply.kind === kind) &&
    (text === undefined || fits(reply, text)) &&
    (options === undefined || options.join("\0") === reply.poll?.options.join("\0"))
  );
}

/** As it stands in a transcript. */
export function describeReply({ kind, text, poll, file, about }: Reply): string {
  if (poll !== null) return `[poll] ${text} (${poll.options.join(" / ")})`;
  if (kind === "reaction" || kind === "edit" || kind === "revoke") return `[${kind}] ${text}`.trim();
  if (kind === "location" || kind === "contact") return `[${kind}] ${text}`.trim();
  const head = file === null ? "" : `[${file.kind}${file.name === null ? "" : ` ${file.name}`}] `;
  return `${head}${text}${about === null ? "" : " [quoting]"}`.trim();
}

/** What was expected, for the message of a failed test. */
export function describeExpected(expected: Expected): string {
  if (typeof expected === "string") return JSON.stringify(expected);
  if (typeof expected === "function") return expected.name || "something that fits the function";
  if (expected instanceof RegExp) return String(expected);
  return JSON.stringify(expected, (_key, value: unknown) =>
    value instanceof RegExp ? String(value) : value,
  );
}
