import { computed } from "vue";
import { api, useQuery, useSession } from "../data/index.ts";
import { phoneText, plain } from "../kit/index.ts";

/** A number as far as it is chosen by. */
interface Choice {
  device: string;
  name?: string | null;
}

/** The numbers that this session may choose from. One that may not list them has those that it was made for. */
export function useNumbers() {
  const { may, session } = useSession();
  const { data, error, loading, refresh } = useQuery(
    () => (may("devices") ? "numbers" : null),
    (signal) => api<{ data: Choice[] }>({ method: "GET", path: "/devices" }, { signal }),
    { on: ["device"] },
  );
  const numbers = computed<Choice[]>(
    () => data.value?.data ?? (session.value?.devices ?? []).map((device) => ({ device })),
  );
  const options = computed(() =>
    numbers.value.map(({ device, name }) => ({
      value: device,
      label: name ? `${phoneText(device)} · ${plain(name)}` : phoneText(device),
    })),
  );
  return { numbers, options, error, loading: computed(() => loading.value && !data.value), refresh };
}
