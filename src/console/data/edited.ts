import { ref, watch, type Ref } from "vue";

/**
 * What somebody fills in over something stored, which somebody else may change meanwhile.
 *
 * @param stored what is stored, as the form has it; looked at whenever it changes
 * @returns `other`: somebody else has changed it, and what is filled in here would undo that
 */
export function useEdited<D>(stored: () => D) {
  let base = JSON.stringify(stored());
  let theirs = stored();
  const draft = ref(theirs) as Ref<D>;
  const other = ref(false);

  /** It is stored by now. @returns false: it is not what this began with, and something else is filled in */
  function meet(now: D): boolean {
    const text = JSON.stringify(now);
    if (text === base) return true;
    const isTouched = JSON.stringify(draft.value) !== base;
    base = text;
    theirs = now;
    if (isTouched && JSON.stringify(draft.value) !== text) other.value = true;
    else draft.value = now;
    return !other.value;
  }
  function begin(from: D): void {
    base = JSON.stringify(from);
    draft.value = from;
    other.value = false;
  }
  watch(stored, meet);
  return { draft, other, meet, begin, takeTheirs: () => begin(theirs) };
}
