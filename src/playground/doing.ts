import { ref, type Ref } from "vue";
import { useToast } from "../console/data/toast.ts";

/** Something that a click does: busy while it is done, and what goes wrong is said. */
export function useDoing<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): { run(...args: Args): Promise<Result | undefined>; busy: Ref<boolean> } {
  const toast = useToast();
  const busy = ref(false);
  return {
    busy,
    async run(...args) {
      busy.value = true;
      try {
        return await work(...args);
      } catch (error) {
        toast.error(error);
        return undefined;
      } finally {
        busy.value = false;
      }
    },
  };
}
