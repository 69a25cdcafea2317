import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { streamEvent } from "../schemas/events.ts";

/** `GET /events`: stays open; a key hears only of what it may read, and one that may read of nothing is refused. */
export const events = endpoint({
  method: "GET",
  path: "/events",
  access: { by: "key", permission: null, links: true },
  summary: "Events of the account, as Server-Sent Events",
  message: "Events.",
  input: z.object({}),
  output: streamEvent,
  produces: "text/event-stream",
});
