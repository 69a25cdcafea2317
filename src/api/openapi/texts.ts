import type { Endpoint } from "../endpoint.ts";

/** Groups of endpoints in the order in which most callers need them, and which paths belong to them. */
export const TAGS: { name: string; description: string; paths: RegExp }[] = [
  {
    name: "Messages",
    description: "Send texts, files and polls, and read what was sent and received.",
    paths: /^\/(send-|uploads|messages)/,
  },
  {
    name: "Chats",
    description: "Groups, channels, people, and who answers them.",
    paths: /^\/(chats|groups|resolve-lid|channels|media)/,
  },
  {
    name: "Webhooks",
    description: "Where events are posted, and what became of each.",
    paths: /webhook|^\/deliveries/,
  },
  {
    name: "Bots",
    description: "Which bots answer where, and why a message was answered as it was.",
    paths: /\/bots|^\/bots|\/decisions/,
  },
  { name: "Numbers", description: "Link numbers, and see how they do.", paths: /^\/(devices|generate-qr)/ },
  {
    name: "Account",
    description: "The key's own account, its keys, and who is signed in.",
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
  else if (access.by === "key or operator") says.push("Any key may ask, and the operator.");
  else if (access.permission === null) says.push("Any key may ask.");
  else says.push(`Needs a key with the permission \`${access.permission}\`.`);
  if (sends)
    says.push(
      "Waits for WhatsApp's acknowledgement, at most SEND_WAIT_MS; what has none by then is `queued`, and `GET /messages/{id}` tells what became of it.",
    );
  if ("before" in input.shape)
    says.push(
      "Pages begin with the newest: `next` of an answer is `before` of the following request, null at the end.",
    );
  if (bounded !== undefined) says.push(`Has no pages: ${bounded}`);
  if (path === "/events")
    says.push(
      "Each event has an `id`, which `Last-Event-ID` resumes from within the last 1,000; a comment comes at connect and every 15 seconds. A key hears of its own numbers, and only what it may read.",
    );
  return says.join(" ");
}
