import { createApp } from "vue";
import App from "./App.vue";
import { i18n, preferredLanguage } from "../console/app/i18n.ts";
import { followTheme } from "../console/app/theme.ts";
import { connect, leadsToConsole, signInAtConsole } from "./control.ts";
import { useToast } from "../console/data/toast.ts";
import { speak } from "./speak.ts";
// oxlint-disable import/no-unassigned-import -- styles are loaded by being imported
import "../console/kit/style/tokens.css";
import "../console/kit/style/base.css";

followTheme();
await speak(preferredLanguage());
connect();
createApp(App).use(i18n).mount("#app");
if (leadsToConsole) signInAtConsole("account").then((url) => location.replace(url), useToast().error);
