import { defineApi } from "../src/api/define-api.ts";
import { events } from "../src/api/endpoints/events.ts";
import { listen } from "../src/api/work/listen.ts";

/** `GET /events`: what happens in the account, until one of the two sides ends it. */
export default defineApi(events, ({ app, caller, event }) => listen(app, caller, event));
