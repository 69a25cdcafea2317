import type { Endpoint } from "../endpoint.ts";

/** Groups of endpoints in the order in which most callers need them, and which paths belong to them. */
export const TAGS: { name: string; description: string; paths: RegExp }[] = [
  {
    name: "Messages",
    description: "Send texts, files and polls, and read what was sent and received.",
    paths: /^\/(send-|uploads|messages|mcp)/,
  },
  {
    name: "Chats",
    description: "Groups, channels, people, and who answers them.",
    paths: /^\/(chats|groups|resolve-lid|channels|media)/,
  },
  {
    name: "Webhooks",
    description: "Where events are posted, and how each delivery went.",
    paths: /webhook|^\/deliveries/,
  },
  {
    name: "Bots",
    description: "Which bots answer where, and why a message was answered or not.",
    paths: /\/bots|^\/bots|\/decisions/,
  },
  { name: "Numbers", description: "Link numbers and see their state.", paths: /^\/(devices|generate-qr)/ },
  {
    name: "Account",
    description: "The key's own account, its keys and sessions.",
    paths: /^\/(account|api-keys|console|links|log)/,
  },
  { name: "Operator", description: "Accounts, backups and the gateway itself.", paths: /^\/admin/ },
  {
    name: "Observing",
    description: "Events as they happen, health, metrics, and this document.",
    paths: /./,
  },
];

/** The operator's paths are the operator's, whatever they are about. */
export const tagOf = ({ path }: Endpoint): string =>
  path.startsWith("/admin") ? "Operator" : TAGS.find(({ paths }) => paths.test(path))!.name;

/** What an endpoint does, who may call it, and what holds for its kind. */
export function descriptionOf({ summary, access, sends, path, input, bounded }: Endpoint): string {
  const says = [`${summary}.`];
  if (access.by === "operator") says.push("Needs the operator's token.");
  else if (access.by === "everybody") says.push("Needs no key.");
  else if (access.by === "session") says.push("Needs a session's cookie.");
  else if (access.by === "key or operator") says.push("Any key or the operator's token may call it.");
  else if (access.permission === null) says.push("Any key may call it.");
  else says.push(`Needs a key with the permission \`${access.permission}\`.`);
  if (sends)
    says.push(
      "Waits up to SEND_WAIT_MS for WhatsApp's ack. A message without one by then is `queued`; `GET /messages/{id}` has its later state.",
    );
  if ("before" in input.shape)
    says.push(
      "Newest first. Pass `next` of an answer as `before` of the following request; it is null at the end.",
    );
  if (bounded !== undefined) says.push(`No pages: ${bounded}`);
  if (path === "/events")
    says.push(
      "Each event has an `id`; `Last-Event-ID` resumes after it within the last 1,000 events. A comment is sent at connect and every 15 seconds. A key gets events of its own numbers only, and only those that it may read.",
    );
  return says.join(" ");
}
