/** What screens know of the gateway, and how they ask it. */
export { api, ApiError, type Call } from "./api.ts";
export { curlOf } from "./curl.ts";
export { useAction } from "./action.ts";
export { useDraft } from "./draft.ts";
export { useEdited } from "./edited.ts";
export { live, useEvents, type LiveEvent } from "./events.ts";
export { useList, type Page } from "./list.ts";
export { listed } from "./listed.ts";
export { refreshQueries, setQuery, useQuery } from "./query.ts";
export { useSession, type Session } from "./session.ts";
export { useToast } from "./toast.ts";
