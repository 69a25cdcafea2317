import { computed, readonly, ref, shallowRef } from "vue";
import { api, ApiError, wire } from "./api.ts";
import { forgetDrafts } from "./draft.ts";
import { clearQueries, refreshQueries } from "./query.ts";

/** Who is signed in, as `GET /console/session` says. */
export interface Session {
  id: string;
  kind: "key" | "operator" | "link";
  account: { id: string; name: string } | null;
  permissions: string[];
  /** Numbers that it is limited to, or null. */
  devices: string[] | null;
  recipients: string[] | null;
  csrf: string;
  /** The simulator's phones, in development. */
  playground?: string;
  created_at: string;
  idle_ends_at: string;
  expires_at: string;
}

/** What one signs in with: exactly one of them. */
export type Credentials = { key: string } | { token: string } | { link: string };

const session = shallowRef<Session | null>(null);
/** A session was there and ended by itself: the screen waits, hidden, until somebody signs in again. */
const ended = ref(false);
/** Changes when another account is looked at: what is shown is made anew. */
const generation = ref(0);
let asked: Promise<void> | null = null;

const scopeOf = (one: Session | null): string =>
  one === null
    ? ""
    : [one.kind, one.account?.id, ...one.permissions, ...(one.devices ?? []), ...(one.recipients ?? [])].join(
        " ",
      );

function take(next: Session | null): void {
  const other = session.value !== null && next !== null && scopeOf(session.value) !== scopeOf(next);
  wire.csrf = next?.csrf ?? null;
  session.value = next;
  ended.value = false;
  if (!other) return refreshQueries("");
  clearQueries();
  generation.value++;
}

wire.onSessionEnd = () => {
  if (session.value !== null) ended.value = true;
};

/** A cookie that is gone is no session either, and a key's session may not do what is the operator's: only one place tells them apart. */
wire.onDoubt = () => {
  if (session.value === null || ended.value) return;
  void api({ method: "GET", path: "/console/session" }).catch(() => {});
};

/** Asks once who is signed in; nobody is no error. @throws ApiError when the gateway does not answer */
export function loadSession(): Promise<void> {
  asked ??= api<{ data: Session }>({ method: "GET", path: "/console/session" })
    .then(({ data }) => take(data))
    .catch((error: unknown) => {
      asked = null;
      if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 404)) throw error;
    });
  return asked;
}

/** @throws ApiError: 401 for a wrong secret, 429 with `retryAfter` for too many attempts */
export async function signIn(credentials: Credentials): Promise<Session> {
  const { data } = await api<{ data: Session }>(
    { method: "POST", path: "/console/session", body: credentials },
    { retries: 0 },
  );
  take(data);
  return data;
}

/** Ends the session here and at the gateway. */
export async function signOut(): Promise<void> {
  await api({ method: "DELETE", path: "/console/session" }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
  });
  wire.csrf = null;
  session.value = null;
  ended.value = false;
  asked = null;
  clearQueries();
  forgetDrafts();
}

/** The operator looks at this account from now on; null: at none. */
export async function chooseAccount(account: string | null): Promise<void> {
  const { data } = await api<{ data: Session }>({
    method: "PUT",
    path: "/console/session/account",
    body: { account },
  });
  take(data);
}

/** May the session do what needs this permission? An operator may, once an account is chosen. */
export function may(permission: string): boolean {
  const { value } = session;
  if (value === null) return false;
  if (value.kind === "operator") return value.account !== null;
  return value.permissions.includes("*") || value.permissions.includes(permission);
}

/** May it link numbers that the account does not have yet? Who is limited to some numbers may not. */
export const mayAddNumbers = (): boolean =>
  may("devices") && may("qr") && (session.value?.devices ?? null) === null;

/** May it make a link for a number? It gives all that the link gives. */
export const mayMakeLinks = (): boolean => ["devices", "qr", "webhooks"].every(may);

/** May it read what was changed in the account? Of some numbers or recipients there is no list. */
export const mayReadLog = (): boolean =>
  may("keys") && (session.value?.devices ?? null) === null && (session.value?.recipients ?? null) === null;

const isOperator = computed(() => session.value?.kind === "operator");
const account = computed(() => session.value?.account ?? null);

/** Who is signed in, and what follows from it. */
export function useSession() {
  return {
    session: readonly(session),
    ended: readonly(ended),
    generation: readonly(generation),
    isOperator,
    account,
    may,
    mayAddNumbers,
    mayMakeLinks,
    mayReadLog,
    signIn,
    signOut,
    chooseAccount,
  };
}
