import type { proto } from "@whiskeysockets/baileys";
import type { PollContent } from "../../surface/content.ts";
import { element } from "../../wire/nodes.ts";
import { contextOf, readContext } from "./context.ts";
import type { Desk, Extras } from "./context.ts";
import type { ContentKind } from "./kind.ts";

const SECRET_BYTES = 32;

/** A poll with its secret; those with one answer, and those that may grow, have message types of their own. */
export function composePoll(content: PollContent, desk: Desk, extras: Extras): proto.IMessage {
  const { name, options, selectable = 0, mayAdd = false } = content;
  const poll = {
    name,
    options: options.map((optionName) => ({ optionName })),
    selectableOptionsCount: selectable,
    contextInfo: contextOf(extras),
  };
  const messageContextInfo = { messageSecret: desk.random.bytes(SECRET_BYTES) };
  if (mayAdd) return { messageContextInfo, pollCreationMessageV5: poll };
  return selectable === 1
    ? { messageContextInfo, pollCreationMessageV3: poll }
    : { messageContextInfo, pollCreationMessage: poll };
}

/** The poll in a message, whatever its version. */
export function pollOf(message: proto.IMessage): proto.Message.IPollCreationMessage | undefined {
  return (
    message.pollCreationMessage ??
    message.pollCreationMessageV2 ??
    message.pollCreationMessageV3 ??
    message.pollCreationMessageV5 ??
    undefined
  );
}

/** Polls of all versions that are read here. */
export const poll: ContentKind = {
  stanzaType: "poll",
  read(message) {
    const found = pollOf(message);
    if (!found) return undefined;
    return {
      kind: "poll",
      text: found.name ?? "",
      poll: {
        name: found.name ?? "",
        options: (found.options ?? []).map(({ optionName }) => optionName ?? ""),
        selectable: found.selectableOptionsCount ?? 0,
        hasSecret: message.messageContextInfo?.messageSecret?.length === SECRET_BYTES,
      },
      ...readContext(found.contextInfo),
    };
  },
  envelope: () => ({ nodes: [element("meta", { polltype: "creation" })] }),
};
