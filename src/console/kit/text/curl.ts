import { useI18n } from "vue-i18n";
import type { Call } from "../../data/api.ts";
import { curlOf } from "../../data/curl.ts";
import { useSession } from "../../data/session.ts";
import { useToast } from "../../data/toast.ts";
import { copy } from "./copy.ts";

/** What the screen does, as commands for the shell: their text, and putting it on the clipboard. */
export function useCurl() {
  const { t } = useI18n();
  const toast = useToast();
  const { isOperator } = useSession();
  const textOf = (calls: readonly Call[]): string =>
    calls
      .map((one) => {
        const operators = isOperator.value && one.path.startsWith("/admin/");
        return curlOf(one, location.origin, operators ? "PARLEY_ADMIN_TOKEN" : "PARLEY_API_KEY");
      })
      .join("\n\n");
  async function copyCurl(...calls: Call[]): Promise<void> {
    await copy(textOf(calls));
    toast.good(t("common.curlCopied"));
  }
  return { textOf, copyCurl };
}
