import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A conversation of the stand-in. */
interface Conversation {
  id: number;
  source: string;
  name: string;
  status: "open" | "resolved";
  messages: string[];
}

/** What a bridge needs of Chatwoot: the public API of one inbox of the kind API, and what it posts to the callback. */
export interface Chatwoot {
  url: string;
  conversations: Conversation[];
  /** What the callback is told when an agent has written in the first conversation. */
  outgoing(id: number, content: string, isNote?: boolean): object;
  close(): void;
}

/**
 * Answers as `Public::Api::V1::Inboxes` of Chatwoot 4 does: a contact is made once per `source_id`, and its paths have no dots.
 *
 * @param inbox its identifier
 */
export async function startChatwoot(inbox: string): Promise<Chatwoot> {
  const names = new Map<string, string>();
  const conversations: Conversation[] = [];
  const root = `/public/api/v1/inboxes/${inbox}`;

  function answer(method: string, path: string, body: Record<string, string>): object | null {
    if (method === "POST" && path === `${root}/contacts`) {
      const source = body["source_id"]!;
      if (!names.has(source)) names.set(source, body["name"]!);
      return { source_id: source, name: names.get(source) };
    }
    const [, source, id] =
      /^\/contacts\/([^/.]+)\/conversations(?:\/(\d+)\/messages)?$/.exec(path.slice(root.length)) ?? [];
    if (source === undefined || !names.has(source)) return null;
    const own = conversations.filter((one) => one.source === source);
    if (id !== undefined) {
      own.find((one) => one.id === Number(id))!.messages.push(body["content"]!);
      return { id: 1, content: body["content"] };
    }
    if (method === "GET") return own.map(({ id, status }) => ({ id, status, messages: [] }));
    const made = { id: conversations.length + 1, source, name: names.get(source)!, status: "open" as const };
    conversations.push({ ...made, messages: [] });
    return made;
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const said = answer(request.method!, request.url!, text === "" ? {} : JSON.parse(text));
    response.writeHead(said === null ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(said ?? { error: "Resource could not be found" }));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    conversations,
    outgoing: (id, content, isNote = false) => ({
      event: "message_created",
      id,
      content,
      message_type: "outgoing",
      private: isNote,
      conversation: { id: 1, contact_inbox: { source_id: conversations[0]!.source } },
    }),
    close: () => server.close(),
  };
}
