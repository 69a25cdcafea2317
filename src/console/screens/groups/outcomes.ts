import { useI18n } from "vue-i18n";
import type { Outcome } from "./calls.ts";

/** Says why somebody could not be added, removed or let in. */
export function useReasons(): (outcome: Pick<Outcome, "error">) => string {
  const { t, te } = useI18n();
  return ({ error }) =>
    error !== undefined && te(`groups.outcomes.${error}`)
      ? t(`groups.outcomes.${error}`)
      : t("groups.memberFailed");
}
