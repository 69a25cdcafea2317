import { computed, nextTick, ref, watch, type Ref } from "vue";
import type { Schemas } from "../../../../client/index.ts";
import { api, useQuery, useSession } from "../../../data/index.ts";
import type { Place } from "../records.ts";

/** Somebody who may be mentioned; null: everybody at once. */
export interface Mentionable {
  /** What stands behind the `@`. */
  digits: string;
  /** As `mentions` of a send names the person. */
  address: string;
  isLid: boolean;
}

/** More than these are found by writing on. */
const SHOWN = 6;
/** An `@` with digits behind it that is being written. */
const WRITTEN = /(?:^|\s)@(\d{0,20})$/;
/** In a text that is written. */
const MENTIONED = /@(\d{5,20})(?!\d)/g;

/**
 * Members of a group, offered while an `@` is written. WhatsApp is asked for them when the first one is.
 *
 * @param draft what is written
 * @param box   where it is written
 */
export function useMentions(place: Place, draft: Ref<string>, box: Ref<HTMLTextAreaElement | null>) {
  const { may } = useSession();
  const isGroup = place.chat.endsWith("@g.us");
  const asked = ref(false);
  const { data } = useQuery(
    () => (asked.value ? `group ${place.sender} ${place.chat}` : null),
    (signal) =>
      api<{ data: Schemas["GroupDetails"] }>(
        { method: "GET", path: `/groups/${encodeURIComponent(place.chat)}`, query: { sender: place.sender } },
        { signal },
      ),
  );
  const members = computed(() => (data.value?.data.members ?? []).flatMap(mentionable));
  /** Digits of the mention that is being written; null: none is. */
  const writing = ref<string | null>(null);
  const all = ref(false);
  const active = ref(0);
  const options = computed<(Mentionable | null)[]>(() => {
    const digits = writing.value;
    if (digits === null) return [];
    const found = members.value.filter((one) => one.digits.includes(digits)).slice(0, SHOWN);
    return digits === "" && !all.value ? [null, ...found] : found;
  });

  /** After each change of the text, and each move to the side. */
  function look(): void {
    const { value } = box;
    if (!isGroup || value === null) return;
    const before = value.value.slice(0, value.selectionStart);
    const isChoosing = value.selectionStart === value.selectionEnd;
    writing.value = (isChoosing ? WRITTEN.exec(before.slice(-40))?.[1] : undefined) ?? null;
    if (writing.value !== null && may("groups")) asked.value = true;
  }
  watch(draft, async () => {
    await nextTick();
    look();
  });
  watch(options, () => (active.value = 0));

  async function choose(option: Mentionable | null): Promise<void> {
    const { value } = box;
    if (value === null || writing.value === null) return;
    const end = value.selectionStart;
    const start = end - writing.value.length - 1;
    const word = option === null ? "" : `@${option.digits} `;
    if (option === null) all.value = true;
    draft.value = draft.value.slice(0, start) + word + draft.value.slice(end);
    writing.value = null;
    await nextTick();
    value.focus();
    value.setSelectionRange(start + word.length, start + word.length);
  }

  /** @returns whether the key was meant for the list */
  function onKey({ key }: KeyboardEvent): boolean {
    const { length } = options.value;
    if (length === 0) return false;
    if (key === "ArrowDown") active.value = (active.value + 1) % length;
    else if (key === "ArrowUp") active.value = (active.value + length - 1) % length;
    else if (key === "Enter" || key === "Tab") void choose(options.value[active.value] ?? null);
    else if (key === "Escape") writing.value = null;
    else return false;
    return true;
  }

  /** What a send says of whom the text mentions. */
  const mentions = computed(() => {
    const written = new Set([...draft.value.matchAll(MENTIONED)].map(([, digits]) => digits));
    const found = members.value.filter(({ digits }) => written.has(digits)).map(({ address }) => address);
    return { ...(found.length > 0 && { mentions: found }), ...(all.value && { mention_all: true }) };
  });
  return { options, active, all, mentions, look, choose, onKey };
}

function mentionable({ number, lid }: Schemas["GroupDetails"]["members"][number]): Mentionable[] {
  if (number !== null) return [{ digits: number, address: number, isLid: false }];
  return lid === null ? [] : [{ digits: lid.split("@", 1)[0]!, address: lid, isLid: true }];
}
