import { computed, ref, shallowRef } from "vue";
import { ApiError } from "./api.ts";
import { useToast } from "./toast.ts";

/** How an action tells of its end. */
export interface ActionOptions<R> {
  /** A toast when it is done. */
  done?: string | ((result: R) => string);
  /** The screen shows `error` itself: no toast of it. */
  quiet?: boolean;
}

/**
 * Something that a person does: one at a time, with its error.
 *
 * @param act does it; throws ApiError
 * @returns `run` gives what `act` gave, or undefined when it failed or one is still under way
 */
export function useAction<A extends unknown[], R>(
  act: (...args: A) => Promise<R>,
  options: ActionOptions<R> = {},
) {
  const toast = useToast();
  const busy = ref(false);
  const error = shallowRef<unknown>(null);
  async function run(...args: A): Promise<R | undefined> {
    if (busy.value) return undefined;
    busy.value = true;
    error.value = null;
    try {
      const result = await act(...args);
      if (options.done !== undefined)
        toast.good(typeof options.done === "string" ? options.done : options.done(result));
      return result;
    } catch (failure) {
      error.value = failure;
      if (!options.quiet) toast.error(failure);
      return undefined;
    } finally {
      busy.value = false;
    }
  }
  /** Problems by field of the last try. */
  const fields = computed(() => (error.value instanceof ApiError ? error.value.fields : {}));
  return { run, busy, error, fields };
}
