import { Document, isMap, isScalar, visit, type YAMLMap } from "yaml";
import type { Said, Story, StoryLine, StoryReply } from "./story.ts";
import { writeDuration } from "./transcript.ts";

/** Writes a story as YAML that `readStory` reads. */
export function writeStory(story: Story): string {
  const { title, bots, config, now, person, group, outside, lines } = story;
  const document = new Document({
    story: title,
    ...(bots.length > 0 && { bots }),
    ...(config && { config }),
    ...(now !== undefined && { now }),
    ...(person !== undefined && { person }),
    ...(group && { group }),
    ...(outside.length > 0 && {
      outside: outside.map(({ url, method, answers }) => ({
        url,
        ...(method !== undefined && { method }),
        answers,
      })),
    }),
    says: lines.map(lineToWrite),
  });
  visit(document, {
    Scalar(_key, node) {
      // Several rows stand as they are read.
      if (typeof node.value === "string" && node.value.includes("\n")) node.type = "BLOCK_LITERAL";
    },
    Map(_key, node, path) {
      // What was said and shown reads best in one row.
      node.flow = path.length > 4 && isShort(node);
    },
  });
  const pair = document.contents;
  if (isMap(pair)) separate(pair);
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** An empty row before the conversation. */
function separate(map: YAMLMap): void {
  const says = map.items.at(-1);
  if (says !== undefined && isScalar(says.key)) says.key.spaceBefore = true;
}

const isShort = (map: YAMLMap): boolean => JSON.stringify(map).length < 100;

function lineToWrite(line: StoryLine): object {
  switch (line.who) {
    case "time":
      return { after: writeDuration(line.ms) };
    case "owner":
      return { owner: line.text };
    case "user": {
      const says = line.says.map(saidToWrite);
      return { user: says.length === 1 ? says[0] : says, ...(line.as !== null && { as: line.as }) };
    }
    default:
      return { [line.who]: replyToWrite(line.reply) };
  }
}

function saidToWrite(one: Said): unknown {
  switch (one.kind) {
    case "text":
      return one.quote === null ? one.text : { text: one.text, quote: one.quote };
    case "file":
      return fileToWrite(one);
    case "vote":
      return { vote: one.options };
    case "react":
      return { react: one.emoji };
    case "edit":
      return { edit: one.text };
    case "location": {
      const { latitude, longitude, name, address } = one;
      return {
        location: [latitude, longitude],
        ...(name !== null && { name }),
        ...(address !== null && { address }),
      };
    }
    case "card":
      return { card: one.name, numbers: one.numbers };
    case "other":
      return { other: one.type };
  }
}

function replyToWrite(reply: StoryReply): unknown {
  switch (reply.kind) {
    case "text":
      return reply.quotes ? { text: reply.text, quotes: true } : reply.text;
    case "poll":
      return {
        poll: reply.question,
        options: reply.options,
        ...(reply.multiple && { multiple: true }),
      };
    case "react":
      return { react: reply.emoji };
    case "file":
      return fileToWrite(reply);
  }
}

const fileToWrite = ({ file, caption, name }: { file: string; caption: string; name: string }): object => ({
  [file]: caption,
  ...(name !== "" && { name }),
});
