import { computed, onScopeDispose, ref, watch } from "vue";
import { api, useQuery, useSession } from "../data/index.ts";
import type { Schemas } from "../../client/index.ts";

type Device = Schemas["Device"];

/** In these states a number does nothing until somebody does something. */
const STUCK = new Set<Device["state"]>(["unlinked", "logged_out", "blocked", "replaced", "action_required"]);

/** How many numbers of the account need somebody: for the title of the window and the navigation. */
export const needing = ref(0);

/** The account's numbers, and those of them that need somebody. Who may not see numbers is told of none. */
export function useNeeds() {
  const { may } = useSession();
  const { data, error, refresh } = useQuery(
    () => (may("devices") ? "numbers" : null),
    (signal) => api<{ data: Device[] }>({ method: "GET", path: "/devices" }, { signal }),
    { on: ["device"], every: 60 },
  );
  const numbers = computed(() => data.value?.data);
  const stuck = computed(() => numbers.value?.filter(({ state }) => STUCK.has(state)) ?? []);
  return { numbers, stuck, error, refresh };
}

/** Keeps {@link needing} for as long as the component is there. */
export function countNeeds(): void {
  const { stuck } = useNeeds();
  watch(stuck, ({ length }) => (needing.value = length), { immediate: true });
  onScopeDispose(() => (needing.value = 0));
}
